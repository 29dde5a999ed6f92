"""The form in which runs of params.yaml solve their lazy phases."""

import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pandas as pd
import pytest

from iterlin import functional
from iterlin._exact_kernel import exact_kernel_size
from iterlin._solvers.conjugate_gradients import KEPT_BYTES
from iterlin_lab.config import load
from iterlin_lab.nets.shared.build import build
from iterlin_lab.planning.bounds import Bounds, evaluations
from iterlin_lab.planning.plan import Phases
from iterlin_lab.report.setting import setting
from iterlin_lab.runs.form import has_dual
from iterlin_lab.runs.recipes import make_recipe
from iterlin_lab.runs.summary import summary
from iterlin_lab.runs.training import run_many
from iterlin_lab.settings.solvers import SOLVERS, solver_of
from tests.clone import ROOT, run_in
from tests.problems import noise_digits

SMOKE = load(ROOT / "params.yaml").presets["smoke"]
COUNT = """
import sys
from iterlin_lab.config import load
from iterlin_lab.runs.workers import prepare_jax
preset, form = sys.argv[1:]
scale = load().presets[preset].model_copy(update={"form": form})
prepare_jax(scale)
from iterlin_lab.planning.memory import estimate_memory
print(estimate_memory(scale).dual)
"""
FLOW, STEPS = {"name": "flow", "tolerance": 0.01}, {"name": "gradient_descent"}


def trained(form, **changes):
    """A run on few examples, and its row."""
    sizes = {"train": 12, "validation": 4, "test": 4}
    settings = {"solver": FLOW, "learning_rate": 1e-4, "num_steps": 10**6, "period": math.inf, "first_record": 1000}
    scale = SMOKE.model_copy(update={"form": form})
    recipe = make_recipe(scale, 0, sizes=sizes, **(settings | changes))
    data = noise_digits(20)
    (result,), _ = run_many([recipe], data, [lambda record: None])
    return result, summary(recipe, result)


def test_a_long_phase_is_solved_in_the_dual_and_ends_where_it_does_on_the_parameters():
    (primal, row), (dual, other) = trained("primal"), trained("auto")
    assert other["expected_evaluations"] == pytest.approx(0.2 * 10**3)
    assert 0 < other["break_even"] < other["expected_evaluations"]
    assert 0 < other["dual_error"] < 1e-10
    assert other.keys() - row.keys() == {"expected_evaluations", "break_even", "dual_error"}
    assert len(dual.records) == len(primal.records)
    for ours, theirs in zip(dual.records, primal.records, strict=True):
        assert ours["proxy_train_loss"] == pytest.approx(theirs["proxy_train_loss"], rel=1e-8)


def test_a_short_phase_stays_on_the_parameters():
    for solver in (FLOW, STEPS):
        _, row = trained("auto", solver=solver, period=3, num_steps=6, first_record=1)
        assert row["expected_evaluations"] < row["break_even"]
        assert "dual_error" not in row


def test_the_dual_can_be_forced():
    _, row = trained("dual", solver=STEPS, period=3, num_steps=6, first_record=1)
    assert row["expected_evaluations"] < row["break_even"]
    assert row["dual_error"] < 1e-10


def test_what_has_no_dual_stays_on_the_parameters():
    """Even where the dual is asked for: a preset has experiments of every kind."""
    _, row = trained("dual", solver=STEPS, augmentation="shifts", batch_size=4, num_steps=5, period=5)
    assert not row.keys() & {"expected_evaluations", "break_even", "dual_error"}
    scale = SMOKE.model_copy(update={"form": "auto"})
    recipe = make_recipe(scale, 0, solver=STEPS, learning_rate=1.0, num_steps=5)
    assert has_dual(recipe, model=None)
    for changes in ({"solver": {"name": "adam"}}, {"runs_at_once": 2}, {"augmentation": "shifts"}, {"form": "primal"}):
        assert not has_dual(recipe._replace(**changes), model=None)


def test_params_yaml_and_the_library_agree_on_which_solvers_have_a_dual():
    for name, solver in SOLVERS.items():
        made = solver_of({"name": name, "learning_rate": 0.1, "tolerance": 0.1}).make(0.1)
        assert solver.any_basis == made.in_any_basis()
    assert SOLVERS["truncated"].besides == KEPT_BYTES


def test_the_plan_counts_what_is_cheaper():
    costs, taken = {"break_even": 20.0, "dual_step": 0.01}, Bounds(1000, 4000)
    assert Phases(taken, None).steps(costs) == Phases(taken, 20).steps(costs) == taken
    assert Phases(taken, 100).steps(costs) == pytest.approx((210, 840))
    assert Phases(taken, 1, forced=True).steps(costs) == pytest.approx((20_010, 80_040))
    assert Phases(taken, 1, forced=True).steps(costs | {"break_even": math.inf}) == taken


def test_where_phases_are_short_a_run_that_never_fits_takes_longer_than_is_likely():
    settings = {"solver": FLOW, "learning_rate": 1.0, "num_steps": 10**6}
    taken = [evaluations(make_recipe(SMOKE, 0, period=period, **settings)) for period in (1, 10, 1000, math.inf)]
    assert [one.likely < one.most for one in taken] == [False, True, True, False]
    assert taken[1].most == 4 * 10**5  # every phase of ten steps takes four evaluations


def test_the_memory_of_the_largest_kernel_is_counted_where_it_may_be_used():
    """The largest training set of smoke has 80 examples; all kernels of `paper` need more than `auto` may take."""
    params, fn = functional(
        build(**SMOKE.net.model_dump(), input_shape=(8, 8, 1), num_classes=10, key=jax.random.key(0))
    )
    needed = exact_kernel_size(fn, params, jnp.zeros((80, 8, 8, 1))).num_bytes
    asked = ["smoke", "primal"], ["smoke", "auto"], ["smoke", "dual"], ["paper", "auto"]
    found = [int(run_in(ROOT, "python", "-c", COUNT, *case).stdout) for case in asked]
    assert found == [0, needed, needed, 0]


def test_the_report_says_how_many_runs_took_the_dual_and_how_wrong_that_was():
    card = SimpleNamespace(name="x", source="y", licence="z", sha256="0" * 64, note="")
    chosen = pd.DataFrame({"expected_evaluations": [200, 2], "break_even": [20, 20], "dual_error": [3.2e-7, None]})
    tables = {"a_runs": chosen, "b_runs": chosen.drop(columns="dual_error"), "c": chosen}

    def text(form, tables):
        return setting(SMOKE.model_copy(update={"form": form}), vars(card), {}, "", tables)

    assert "Form" not in text("primal", tables)
    assert "Form" not in text("auto", {"c": chosen})  # no table of runs says it
    found = " ".join(text("auto", tables).split())
    assert "`auto`. 1 of 4 runs solved their lazy phases in the dual" in found
    assert "differs from the linearised network by at most 3e-07 of their movement" in found
