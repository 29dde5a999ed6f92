"""What does not fit into memory is refused before anything is built; what fits is estimated from shapes alone."""

import json
import re

from iterlin_lab.config import load
from iterlin_lab.runs import memory
from iterlin_lab.runs.memory import Need
from tests.clone import ROOT, run_in

GIB = 2**30


# Each case is a preset, what is changed in it, the bytes that are free, and those that XLA would find are needed.
FIND = """
import json, sys
from iterlin_lab.runs import memory
from iterlin_lab.config import load
from iterlin_lab.planning import memory as estimates
for preset, changes, free, needed in json.loads(sys.argv[1]):
    scale = load().presets[preset]
    for name, new in changes.items():
        scale = scale.model_copy(
            update={name: getattr(scale, name).model_copy(update=new) if isinstance(new, dict) else new}
        )
    memory.available, estimates.compiled_memory = lambda: free, lambda scale, need: needed
    estimates.keep = lambda scale, need: None
    try:
        estimates.require(scale)
        print("fits")
    except SystemExit as error:
        print(error)
"""


def test_the_line_names_the_number_that_helps_most():
    large_batch = {"training": {"batch_size": 40_000}, "data": {"num_train": 40_000}}
    cases = {
        "fits": ("smoke", {}, 2 * GIB, 3 * GIB),
        "fits ": ("paper", {}, 2.5 * GIB, 2 * GIB),  # as XLA finds
        "scale.data: a run needs about 3.. GiB of memory .1.4 GiB of it for the data., this machine has 2.5 GiB: "
        "make data.num_train smaller": ("paper", {}, 2.5 * GIB, 3 * GIB),
        "scale.net: .* for the parameters.*: make net.widths smaller": (
            ("smoke", {"net": {"widths": [9000] * 3}}, 4 * GIB, 5 * GIB)
        ),
        "scale.training: .* for linearising the network.*: make training.batch_size smaller": (
            ("paper", large_batch, 5 * GIB, 6 * GIB)
        ),
        "scale.form: the dual takes 5.6 TiB for the largest training set, and may take 4.0 GiB: make it auto or "
        "primal": ("paper", {"form": "dual"}, 5 * GIB, GIB),
        "scale.runs_at_once: 4 runs in one program .*: make it at most 1": (
            "paper",
            {"runs_at_once": 4},
            6 * GIB,
            7 * GIB,
        ),
    }
    lines = run_in(ROOT, "python", "-c", FIND, json.dumps(list(cases.values()))).stdout.splitlines()
    for line, expected in zip(lines, cases, strict=True):
        pattern = "fits" if expected.startswith("fits") else f"params.yaml: {expected}"
        assert re.fullmatch(pattern, line), line


def test_only_as_many_train_side_by_side_as_fit(monkeypatch, capsys):
    scale = load(ROOT / "params.yaml").presets["smoke"]
    monkeypatch.delenv("ITERLIN_WORKERS", raising=False)
    monkeypatch.setattr(memory, "num_workers", lambda threads: 8)
    monkeypatch.setattr(memory, "available", lambda: 10 * GIB)
    found = {}
    monkeypatch.setattr(memory.os, "environ", found)
    monkeypatch.setattr(memory, "known", lambda scale: None)
    memory.limit_workers(scale)
    assert found == {}
    monkeypatch.setattr(memory, "known", lambda scale: Need(GIB, GIB, GIB // 2, GIB // 2))
    memory.limit_workers(scale)
    assert found == {"ITERLIN_WORKERS": "3"}
    assert capsys.readouterr().out == "3 of 8 training processes at once, of 3.0 GiB each: there are 10.0 GiB\n"
    found["ITERLIN_WORKERS"] = "7"  # what a user has set stays
    memory.limit_workers(scale)
    assert found == {"ITERLIN_WORKERS": "7"}
