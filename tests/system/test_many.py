"""Runs that train at once in one program are the runs that train alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.core import Tracer

from iterlin import (
    ClosedForm,
    Every,
    FirstOrder,
    Flow,
    Never,
    OnConvergence,
    Outcome,
    Run,
    adam,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from tests.problems import classification, mlp, regression


def runs_of(solvers, problem=classification, **settings):
    """A run a solver, each with a network and data of its own."""
    return [
        Run(
            mlp(jax.random.key(10 + i)),
            {"train": problem(jax.random.key(20 + i)), "test": problem(jax.random.key(30 + i), n=5)},
            solver,
            key=jax.random.key(40 + i),
            **settings,
        )
        for i, solver in enumerate(solvers)
    ]


FIRST = runs_of([sgd(0.1)])[0]


def assert_as_alone(runs, **settings):
    """Train both ways and compare; the results of the runs at once."""
    seen = [[] for _ in runs]
    watched = [run._replace(on_record=records.append) for run, records in zip(runs, seen, strict=True)]
    results = train_many(watched, **settings)
    for run, result, records in zip(runs, results, seen, strict=True):
        alone = train(run.model, run.splits, solver=run.solver, damping=run.damping, key=run.key, **settings)
        assert result.outcome is alone.outcome
        assert records == result.records
        assert len(records) == len(alone.records)
        for record, expected in zip(records, alone.records, strict=True):
            assert record == pytest.approx(expected, rel=1e-7, abs=1e-10, nan_ok=True)
        assert result.report == pytest.approx(alone.report, rel=1e-7)
        assert jax.tree.structure(result.state) == jax.tree.structure(alone.state)
        for mine, its in zip(jax.tree.leaves(result.state), jax.tree.leaves(alone.state), strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-7, atol=1e-10)
            assert jnp.result_type(mine) == jnp.result_type(its)
        assert jax.tree.structure(result.model) == jax.tree.structure(alone.model)
    return results


@pytest.mark.parametrize("schedule", [Every(1), Every(20), Never()])
def test_learning_rates_of_which_one_diverges_and_one_fits_early(schedule):
    runs = runs_of([sgd(rate) for rate in (0.2, 1e-3, 500.0, 0.1)])
    settings = {"num_steps": 3000, "fit_loss": 0.3, "divergence_factor": 100.0, "records_per_decade": 4}
    results = assert_as_alone(runs, loss=cross_entropy, schedule=schedule, **settings)
    outcomes = [result.outcome for result in results]
    assert outcomes[1:3] == [Outcome.step_limit, Outcome.diverged]
    if schedule.period < 3000:
        assert Outcome.fitted in outcomes
        assert len({len(result.records) for result in results}) > 2


def test_seeds_that_stop_at_different_steps():
    results = assert_as_alone(
        runs_of([sgd(0.5)] * 4), loss=cross_entropy, schedule=Every(7), num_steps=20_000, fit_loss=0.05
    )
    assert {result.outcome for result in results} == {Outcome.fitted}
    assert len({result.records[-1]["step"] for result in results}) > 1


def test_nan_in_the_network_of_one_stays_there():
    runs = runs_of([sgd(0.1)] * 3)
    broken = jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_array(leaf) else leaf, runs[1].model)
    runs[1] = runs[1]._replace(model=broken)
    results = assert_as_alone(runs, loss=cross_entropy, schedule=Every(5), num_steps=50)
    outcomes = [result.outcome for result in results]
    assert outcomes == [Outcome.step_limit, Outcome.diverged, Outcome.step_limit]


@jax.numpy_dtype_promotion("standard")  # optax's Adam needs it
def test_phases_that_end_on_convergence_at_steps_of_their_own():
    runs = runs_of([adam(0.02), adam(0.05), adam(0.01)], regression)
    results = assert_as_alone(runs, loss=squared_error, schedule=OnConvergence(0.1), num_steps=2000)
    updates = [result.state.feature_updates.item() for result in results]
    assert min(updates) > 1
    assert len(set(updates)) > 1
    assert len({tuple(record["step"] for record in result.records) for result in results}) == 3


@pytest.mark.parametrize("schedule", [Every(1), Every(4)])
def test_mini_batches_with_a_key_a_run(schedule):
    solvers = [sgd(rate, momentum=0.5, at_feature_update="keep") for rate in (0.1, 0.2, 0.3)]
    results = assert_as_alone(
        runs_of(solvers), loss=cross_entropy, schedule=schedule, num_steps=200, batch_size=5, fit_loss=0.4
    )
    assert len({result.records[-1]["step"] for result in results}) > 1


@pytest.mark.parametrize("schedule", [Every(1), Every(3000), OnConvergence(0.1), Never()])
def test_flow(schedule):
    runs = runs_of([Flow(1e-3), Flow(2e-3), Flow(1e-3, 0.01)])
    settings = {"num_steps": 100_000, "first_record": 100, "records_per_decade": 2, "fit_loss": 0.1}
    results = assert_as_alone(runs, loss=cross_entropy, schedule=schedule, **settings)
    assert len({result.state.evaluations.item() for result in results}) == 3


def test_dampings():
    runs = [FIRST._replace(damping=damping) for damping in (0.0, 0.1, 1.0)]
    results = assert_as_alone(runs, loss=cross_entropy, schedule=Every(50), num_steps=200)
    moved = [result.records[-1]["distance_init"] for result in results]
    assert moved[0] > moved[1] > moved[2]


def test_a_permutation_is_drawn_once_an_epoch_and_not_at_every_step():
    """A branch of `cond` would be computed at every step where runs are trained at once."""
    from iterlin._batches import MiniBatch

    draws = []
    counted = MiniBatch._permutation

    def permutation(self, epoch):
        jax.debug.callback(lambda: draws.append(1))
        return counted(self, epoch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniBatch, "_permutation", permutation)
        runs = [run._replace(splits={"train": run.splits["train"]}) for run in runs_of([sgd(0.1)] * 2)]
        train_many(runs, loss=cross_entropy, schedule=Every(1), num_steps=20, batch_size=3)
        jax.effects_barrier()
    assert len(draws) == 5


def test_one_program_serves_all_values():
    traces = []

    def loss(outputs, labels):
        if isinstance(outputs, Tracer):  # and not numbers, with which a loss is asked whether it is the squared error
            traces.append(outputs)
        return cross_entropy(outputs, labels)

    train_many(runs_of([sgd(0.1)] * 2), loss=loss, schedule=Every(3), num_steps=20)
    first = len(traces)
    assert first > 0
    train_many(runs_of([sgd(0.3), sgd(0.01)])[::-1], loss=loss, schedule=Every(5), num_steps=40)
    assert len(traces) == first


def test_one_run_is_train():
    (run,) = runs_of([ClosedForm(0.1)], regression)
    assert_as_alone([run], loss=squared_error, schedule=Every(10), num_steps=30)


NOT_ALIKE = "runs that train at once differ in values alone: give models of one architecture, splits of the same"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": mlp(jax.random.key(0), activation=jax.nn.relu)}, NOT_ALIKE),
        ({"splits": {"train": classification(jax.random.key(0), n=5), "test": FIRST.splits["test"]}}, NOT_ALIKE),
        ({"splits": {name: FIRST.splits[name] for name in ("test", "train")}}, NOT_ALIKE),
        ({"solver": adam(0.1)}, NOT_ALIKE),
        ({"solver": sgd(0.1, at_feature_update="keep")}, NOT_ALIKE),
        ({"solver": FirstOrder(optax.sgd, {"learning_rate": 0.1, "momentum": 0.5})}, NOT_ALIKE),
        ({"damping": -1.0}, "the damping λ must be at least 0 and finite, got -1.0"),
    ],
)
def test_runs_that_cannot_train_at_once(change, message):
    with pytest.raises(ValueError, match=message):
        train_many([FIRST, FIRST._replace(**change)], loss=cross_entropy, schedule=Every(1), num_steps=1)


def test_the_closed_form_does_not_train_at_once():
    runs = runs_of([ClosedForm(0.1)] * 2, regression)
    with pytest.raises(ValueError, match="the solver ClosedForm computes on the host: train its runs one by one"):
        train_many(runs, loss=squared_error, schedule=Every(1), num_steps=1)


def test_no_run_is_an_error():
    with pytest.raises(ValueError, match="there is no run to train"):
        train_many([], loss=cross_entropy, schedule=Every(1), num_steps=1)
