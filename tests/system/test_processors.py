"""Runs on another processor: one that is emulated, and one whose instructions XLA and OpenBLAS are told to use."""

import json
import platform
import shutil
import sys

import pytest

from tests.clone import ROOT, run_in

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the sets of instructions are those of x86")
# Another order of sums, and no fused multiplication and addition.
OLD = {"XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2", "OPENBLAS_CORETYPE": "Nehalem"}
SOLVED = {"name": "truncated", "tolerance": 1e-3}
TRAIN = """
import json, sys
from iterlin_lab.config import load
from iterlin_lab.runs.workers import prepare_jax
scale = load().presets["laptop"]
prepare_jax(scale)
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.runs.summary import summary
from iterlin_lab.runs.training import run_many
found = DATA_SETS["digits"].load()
data = {"images": found.images, "labels": found.labels, "official_test": found.official_test}
experiment = EXPERIMENTS[sys.argv[1]]
cells = experiment.module("run").cells(experiment.of(scale))
recipe = cells[sys.argv[2]][0]._replace(seed=1001, **json.loads(sys.argv[3]))
(result,), _ = run_many([recipe], data, [lambda record: None])
print(json.dumps(summary(recipe, result)))
"""

HASWELL = ("qemu-x86_64", "-cpu", "Haswell,-hle,-rtm,-pcid,-x2apic,-tsc-deadline,-invpcid")
ENDS = """
import iterlin_lab
import hashlib
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import iterlin
from benchmarks.agreement import PROBLEM
jax.config.update("jax_enable_x64", True)
images, labels = (jnp.asarray(array[:20]) for array in PROBLEM.data())
rng = np.random.default_rng(0)
model = jax.tree.map(
    lambda leaf: jnp.asarray(0.3 * rng.normal(size=leaf.shape)) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf,
    eqx.filter_eval_shape(PROBLEM.model, jax.random.key(0)),  # compiles nothing, which takes a minute there
)
params, fn = iterlin.functional(model)
def loss(params):
    return iterlin.cross_entropy(fn(params, images), labels)
x = rng.normal(size=(90, 40))
ends = {
    "XLA": jax.jit(jax.grad(loss))(params),
    "OpenBLAS": np.linalg.eigh(x @ x.T)[0],
    "numpy": np.exp(x),
}
for name, end in ends.items():
    print(name, [hashlib.sha256(np.asarray(leaf).tobytes()).hexdigest() for leaf in jax.tree.leaves(end)])
"""


@X86
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="no qemu-x86_64, of Debian's qemu-user")
def test_an_emulated_processor_of_2013_ends_with_the_same_bytes():
    """All three end with other bytes on a processor with AVX-512 that uses it."""
    python = (sys.executable, "-c", ENDS)
    here, there = (
        run_in(ROOT, *on, *python, JAX_ENABLE_COMPILATION_CACHE="0", JAX_PLATFORMS="cpu").stdout.splitlines()
        for on in ((), HASWELL)
    )
    assert len(here) == 3
    assert here == there


@X86
@pytest.mark.parametrize(
    "run",
    [("k_sweep", "1e6", {"learning_rate": 1e-5}), ("tgn_baseline", "tgn", {"solver": SOLVED, "tolerance": 1e-3})],
    ids=["flow", "TGN"],
)
def test_a_run_ends_alike_on_an_older_processor(run, tmp_path):
    """All accuracies to the last example, and the last step; a flow of 10⁶ steps, and five Newton–CG problems.

    These are solved to 10⁻³. Further on the problems are so ill-conditioned that rounding shows (docs/validity.md).
    """

    def trained(instructions):
        settings = instructions | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
        *cell, changes = run
        return json.loads(run_in(ROOT, "python", "-c", TRAIN, *cell, json.dumps(changes), **settings).stdout)

    here, there = trained({}), trained(OLD)
    assert there.keys() == here.keys()
    for name, value in here.items():
        approximate = name in ("network_train_loss", "error_estimate", "eta_lambda_max")
        assert there[name] == (pytest.approx(value, rel=1e-3) if approximate else value), name
