"""What a run takes in memory, against what was estimated."""

import json

import pytest

from tests.clone import ROOT, Clone, run_in

# The estimate, what XLA says of the compiled programs, and the largest size of a process that has run them.
MEASURE = """
import json, resource, sys
from iterlin_lab.config import load
from iterlin_lab.runs.workers import prepare_jax
preset, net = json.loads(sys.argv[1])
scale = load().presets[preset]
scale = scale.model_copy(update={"net": scale.net.model_copy(update=net)})
prepare_jax(scale)
from iterlin_lab.data.sets import digits
from tests.whole import recipes
from iterlin_lab.planning.memory import compiled_memory, estimate_memory
from iterlin_lab.runs.training import run_many
images, labels, official_test, _ = digits.load()
name = "k_sweep" if preset == "laptop" else "tgn_baseline"
made = recipes(name, scale)["1e4" if preset == "laptop" else "tgn"][0]
made = made if made.learning_rate is None else made._replace(learning_rate=1e-6)
short = made._replace(training=made.training | {"num_steps": 3, "first_record": 3})
run_many([short], {"images": images, "labels": labels, "official_test": official_test}, [lambda record: None])
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
need = estimate_memory(scale)
print(json.dumps([need.group(1), need.process, compiled_memory(scale, need), peak]))
"""


@pytest.mark.parametrize(("preset", "net"), [("laptop", {}), ("smoke", {"widths": [3000, 3000]})])
def test_the_estimate_is_near_what_a_run_takes(preset, net):
    argument = json.dumps([preset, net])
    done = run_in(ROOT, "python", "-c", MEASURE, argument, JAX_ENABLE_COMPILATION_CACHE="false")  # as the first time
    estimate, process, compiled, peak = json.loads(done.stdout.splitlines()[-1])
    assert compiled - process <= estimate - process <= 5 * (compiled - process)
    assert peak / 1.5 <= estimate <= 2.5 * peak


def test_networks_that_are_absurd_are_refused_before_anything_is_built(tmp_path):
    clone = Clone(tmp_path, "smoke")
    clone.edit("widths: [32, 16]", "widths: [1000000, 1000000]")
    for command in (["iterlin", "repro"], ["dvc", "repro"]):
        done = clone.run(*command, check=False)
        assert done.returncode != 0
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("params.yaml")]
        assert line.startswith("params.yaml: scale.net: a run needs about 120")
        assert " TiB of memory (109.1 TiB of it for the parameters), this machine has " in line
        assert line.endswith(": make net.widths smaller")
        assert "prepare@" not in done.stdout
    # What fits into the machine does not into less: here all that a process may take is 2 GB.
    clone.edit("widths: [1000000, 1000000]", "widths: [7000, 7000]")
    done = clone.run("bash", "-c", "ulimit -d 2000000; iterlin plan", check=False)
    assert done.returncode == 1
    assert "this machine has 1.9 GiB: make net.widths smaller" in done.stderr
