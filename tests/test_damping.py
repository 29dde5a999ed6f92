"""Damping that changes between phases."""

import jax
import numpy as np
import pytest
from jax.core import Tracer

from iterlin import (
    ClosedForm,
    Dual,
    Every,
    FileCheckpoints,
    Flow,
    OnConvergence,
    Ridge,
    Run,
    Switched,
    Truncated,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from tests.problems import classification, mlp, regression, trained

MODEL, CLASSES, NUMBERS = mlp(jax.random.key(0)), classification(jax.random.key(1)), regression(jax.random.key(1))
FIRST, THEN, AFTER, PHASES = 0.3, 1e-3, 2, 5
FLOW = 0.01  # of paths of length one: how far the flow may be off
# A solver, its loss, and the steps of a phase.
SOLVERS = {
    "sgd": (sgd(0.1), cross_entropy, 20),
    "flow": (Flow(1e-3, FLOW), cross_entropy, 3000),
    "truncated": (Truncated(1e-6), cross_entropy, 3),
    "dual": (Dual(sgd(0.1)), cross_entropy, 20),
    "dual truncated": (Dual(Truncated(1e-6)), cross_entropy, 3),
    "ridge": (Ridge(), squared_error, 1),
    "closed form": (ClosedForm(0.05), squared_error, 50),
}
EACH = pytest.mark.parametrize("name", SOLVERS)


def run(name, damping, phases=PHASES, model=MODEL, **settings):
    """The flat θ, and the result, of so many phases."""
    solver, loss, period = SOLVERS[name]
    data = CLASSES if loss is cross_entropy else NUMBERS
    settings = {"schedule": Every(period), "num_steps": phases * period, "loss": loss} | settings
    return trained(model, data, solver=solver, damping=damping, **settings)


@EACH
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_damping_that_switches_to_itself_is_the_number(name, damping):
    damping = damping or (1e-3 if name == "ridge" else 0.0)
    (theta, number), (other, switched) = run(name, damping), run(name, Switched(damping, damping, AFTER))
    np.testing.assert_array_equal(theta, other)
    assert str(number.records) == str(switched.records)


@pytest.mark.parametrize("solver", [sgd(0.1), Flow(1e-3)])
def test_no_damping_at_all_takes_steps_of_one_on_the_network(solver):
    settings = {"schedule": Every(1), "num_steps": 30, "loss": cross_entropy, "solver": solver}
    theta, number = trained(MODEL, CLASSES, damping=0.0, **settings)
    other, switched = trained(MODEL, CLASSES, damping=Switched(0.0, 0.0, 3), **settings)
    np.testing.assert_array_equal(theta, other)
    assert str(number.records) == str(switched.records)


@EACH
def test_a_run_with_a_switch_goes_on_from_one_that_stopped_there(name):
    """What a solver carries over a feature update, the radius of `Truncated` and the step of `Flow`, starts anew."""
    tolerance = {"flow": FLOW, "truncated": 1e-4, "dual truncated": 1e-4}.get(name, 1e-9)
    stopped = run(name, FIRST, AFTER)[1]
    for phases in range(1, PHASES + 1):
        theta, _ = run(name, Switched(FIRST, THEN, AFTER), phases)
        if phases <= AFTER:
            np.testing.assert_array_equal(theta, run(name, FIRST, phases)[0])
            continue
        expected, _ = run(name, THEN, phases - AFTER, stopped.model)
        np.testing.assert_allclose(theta, expected, rtol=0, atol=tolerance)
        wrong, _ = run(name, FIRST, phases - AFTER, stopped.model)
        assert np.abs(wrong - expected).max() > 4 * tolerance


def test_the_certificate_is_that_of_the_problem_that_was_solved():
    settings = {"schedule": OnConvergence(1e-3), "num_steps": 60, "records_per_decade": 1000}
    _, result = run("truncated", Switched(FIRST, THEN, AFTER), **settings)
    ends = [a for a, b in zip(result.records, result.records[1:], strict=False) if b["phase_step"] <= a["phase_step"]]
    assert len(ends) > AFTER + 1
    assert max(end["certificate"] for end in ends) <= 1e-3


def test_one_program_serves_numbers_and_switches():
    traces = []

    def loss(outputs, labels):
        if isinstance(outputs, Tracer):
            traces.append(outputs)
        return cross_entropy(outputs, labels)

    settings = {"loss": loss, "solver": sgd(0.1), "schedule": Every(3), "num_steps": 12}
    train(MODEL, {"train": CLASSES}, damping=0.1, **settings)
    first = len(traces)
    for damping in (0.2, Switched(0.1, 0.0, 1), Switched(0.0, 0.3, 3)):
        train(MODEL, {"train": CLASSES}, damping=damping, **settings)
    assert len(traces) == first > 0


def test_runs_that_train_at_once_switch_for_themselves():
    dampings = [0.1, Switched(0.3, 0.0, 1), Switched(0.0, 0.3, 3)]
    runs = [Run(MODEL, {"train": CLASSES}, sgd(0.1), damping) for damping in dampings]
    settings = {"loss": cross_entropy, "schedule": Every(10), "num_steps": 50}
    for damping, result in zip(dampings, train_many(runs, **settings), strict=True):
        alone = train(MODEL, {"train": CLASSES}, solver=sgd(0.1), damping=damping, **settings)
        for record, expected in zip(result.records, alone.records, strict=True):
            assert record == pytest.approx(expected, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("name", ["truncated", "dual", "flow"])
def test_a_run_that_is_resumed_ends_with_the_same_bytes(name, tmp_path):
    """It stops in the second phase with the new λ. A checkpoint of another switch is refused."""

    class Interrupted(Exception):
        pass

    def stop(record):
        if record["feature_updates"] > AFTER:
            raise Interrupted

    damping = Switched(FIRST, THEN, AFTER)
    theta, whole = run(name, damping)
    checkpoints = FileCheckpoints(tmp_path, 0.0)
    with pytest.raises(Interrupted):
        run(name, damping, checkpoints=checkpoints, on_record=stop)
    with pytest.raises(ValueError, match="another"):
        run(name, Switched(FIRST, THEN, AFTER + 1), checkpoints=FileCheckpoints(tmp_path, 0.0))
    resumed, result = run(name, damping, checkpoints=FileCheckpoints(tmp_path, 0.0))
    np.testing.assert_array_equal(theta, resumed)
    assert str(whole.records) == str(result.records)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Switched(-1.0, 0.0, 1), "the damping λ must be at least 0 and finite, got -1.0"),
        (lambda: Switched(1.0, np.inf, 1), "the damping λ must be at least 0 and finite, got inf"),
        (lambda: Switched(1.0, 0.0, 0), "after must be a whole number of phases, at least 1, got 0"),
        (lambda: Switched(1.0, 0.0, 1.5), "after must be a whole number of phases, at least 1, got 1.5"),
        (lambda: run("ridge", Switched(1.0, 0.0, 1)), "without damping the system is singular: use the factorisation"),
    ],
)
def test_what_is_no_damping_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
