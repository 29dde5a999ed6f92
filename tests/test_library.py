"""The library as others meet it: alone, from the README, and on one page."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.clone import ROOT, environment

WITHOUT_THE_PIPELINE = """
import sys
for name in ("pydantic", "pandas", "dvc", "mlflow", "sklearn", "scipy.stats", "matplotlib", "ruamel.yaml", "tqdm"):
    sys.modules[name] = None
import equinox as eqx, iterlin, jax
x = jax.random.normal(jax.random.key(0), (8, 3))
model = eqx.nn.MLP(3, 2, 5, 1, key=jax.random.key(1))
result = iterlin.train(model, {"train": (x, x[:, :2])}, loss=iterlin.squared_error, solver=iterlin.sgd(0.1),
                       schedule=iterlin.Every(3), num_steps=9)
print(result.records[-1]["feature_updates"])
try:
    iterlin.sgd(0.1, at_feature_update="restart")
except ValueError as error:
    print(error)
try:
    iterlin.EquinoxModel(None, statistics="moving")
except ValueError as error:
    print(error)
try:
    iterlin.unheard_of
except AttributeError as error:
    print(error)
"""


def run(*command, **settings):
    """Run a command in the environment of a user."""
    env = environment(PYTHONPATH=str(ROOT), **settings)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, env=env)


def test_the_core_runs_without_the_pipeline():
    done = run(sys.executable, "-c", WITHOUT_THE_PIPELINE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2",
        "at_feature_update must be 'reset' or 'keep', got 'restart'",
        "statistics must be one of batch, frozen, running, got 'moving'",
        "module 'iterlin' has no attribute 'unheard_of'",
    ]


def test_the_script_names_what_it_lacks():
    script = "import sys; sys.modules['pydantic'] = None; from iterlin_lab.cli import main; main()"
    done = run(sys.executable, "-c", script)
    assert (done.returncode, done.stdout) == (1, "")
    wanted = "iterlin: the pipeline needs pydantic, which is not installed: pip install 'iterlin[pipeline]'"
    assert done.stderr.strip() == wanted


@pytest.mark.parametrize("module", ["iterlin_lab.commands", "iterlin_lab.runs.workers", "iterlin_lab.config"])
def test_what_computes_nothing_does_not_wait_for_jax(module):
    done = run(sys.executable, "-c", f"import sys, {module}; print({{'jax', 'pandas', 'mlflow'}} & set(sys.modules))")
    assert done.stdout.strip() == "set()", done.stderr


def test_the_example_of_the_readme_runs():
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(example.splitlines()) <= 20
    done = run(sys.executable, "-c", example)
    assert done.returncode == 0, done.stderr
    accuracy, updates = done.stdout.split()
    assert float(accuracy) > 0.8
    assert int(updates) == 19


def test_the_minimal_page_agrees_with_the_library():
    script = """
import equinox as eqx, iterlin, jax, jax.numpy as jnp, json, minimal
model = eqx.nn.MLP(1, 1, width_size=50, depth=2, key=jax.random.key(0))
x, x_test = (jnp.linspace(-3.5, 3.5, n)[:, None] for n in (20, 1000))
rmse = {}
for name, schedule in {"100": iterlin.Every(100), "∞": iterlin.Never()}.items():
    result = iterlin.train(model, {"train": (x, minimal.quintic(x))}, loss=iterlin.squared_error, schedule=schedule,
                           solver=iterlin.sgd(minimal.LEARNING_RATE), num_steps=minimal.NUM_STEPS)
    rmse[name] = float(jnp.sqrt(jnp.mean((jax.vmap(result.model)(x_test) - minimal.quintic(x_test)) ** 2)))
print(json.dumps([minimal.main(), rmse]))
"""
    done = run(sys.executable, "-c", script, JAX_ENABLE_X64="1")
    assert done.returncode == 0, done.stderr
    page, library = json.loads(done.stdout.splitlines()[-1])
    assert page["1"] < 0.5 < page["∞"]
    for name, rmse in library.items():
        np.testing.assert_allclose(page[name], rmse, rtol=1e-6)
