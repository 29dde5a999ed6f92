"""Schedules with the last word on where a phase ends; and what is refused of all schedules."""

import itertools

import jax
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import iterlin
from iterlin import (
    Every,
    Guarded,
    LevenbergMarquardt,
    OnLinearisationError,
    Quadratic,
    RecordAt,
    TrustRegion,
    cross_entropy,
    sgd,
)
from tests.problems import classification, mlp
from tests.schedules import KEYS, close, every_step, flat, phases, train

# The last word.

LABELLED = {"data": classification(KEYS[1], n=20), "loss": cross_entropy}
FN = iterlin.functional(mlp(KEYS[0]))[1]


@jax.jit
def network_loss(params):
    x, y = LABELLED["data"]
    return cross_entropy(FN(params, x), y)


def start_loss(moment):
    """The network's training loss at θ_s, where the phase started."""
    return {"start": network_loss(moment.linearised.params0)}


@pytest.mark.parametrize("schedule", [Every(50), Every(1), OnLinearisationError(0.5)], ids=["K = 50", "K = 1", "error"])
@pytest.mark.parametrize(("halvings", "rate"), [(0, 2.0), (0, 30.0), (6, 30.0)])
def test_no_phase_ends_with_a_higher_loss(schedule, halvings, rate):
    settings = LABELLED | {"solver": sgd(rate), "num_steps": 200}
    starts = RecordAt(range(201), start_loss)
    result = train(schedule=Guarded(schedule, halvings=halvings), record_at=[starts], **settings)
    assert result.outcome is iterlin.Outcome.step_limit
    losses = [record["start"] for record in result.records]
    assert all(later <= earlier for earlier, later in itertools.pairwise(losses))
    if rate == 2.0 or halvings:  # at η = 30 no whole step lowers the loss, so that each is rolled back
        assert losses[-1] < losses[0]
    else:
        assert losses[-1] == losses[0]
        assert result.state.feature_updates == 0


def test_a_guard_that_never_acts_changes_nothing():
    guarded, plain = train(schedule=Guarded(Every(5), halvings=3)), train(schedule=5)
    close(flat(guarded), flat(plain))
    assert guarded.state.feature_updates == plain.state.feature_updates
    assert [record["rolled_back"] for record in guarded.records] == [0.0] * len(guarded.records)


def test_a_phase_that_is_rolled_back_starts_again_half_as_long():
    result = every_step(schedule=Guarded(Every(16)), **LABELLED, solver=sgd(30.0), num_steps=31)
    # The record after the last step of a phase is of θ_s again: the phases are longer than what is seen by one.
    assert [length + 1 for length in phases(result)] == [16, 8, 4, 2, 1]
    assert result.records[-1]["rolled_back"] == 5
    assert result.records[-1]["network_train_loss"] == result.records[0]["network_train_loss"]
    assert result.state.feature_updates == 0


def test_a_step_that_is_too_long_is_halved_until_the_loss_falls():
    params, _ = iterlin.functional(mlp(KEYS[0]))
    rate, gradient = 300.0, jax.grad(network_loss)(params)

    def at(share):
        return optax.tree.add_scale(params, -rate * share, gradient)

    halved = next(i for i in range(40) if network_loss(at(0.5**i)) <= network_loss(params))
    assert halved > 0
    settings = LABELLED | {"solver": sgd(rate), "num_steps": 1}
    close(flat(train(schedule=Guarded(Every(1), halvings=40), **settings)), ravel_pytree(at(0.5**halved))[0])
    assert train(schedule=Guarded(Every(1), halvings=halved - 1), **settings).records[-1]["rolled_back"] == 1


def test_damping_follows_how_well_the_expansion_predicts():
    settings = LABELLED | {"damping": 0.01}
    short = every_step(schedule=LevenbergMarquardt(Every(1), change=3.0), solver=sgd(0.01), num_steps=5, **settings)
    assert short.records[-1]["damping_factor"] == pytest.approx(3.0**-5)
    long = train(schedule=LevenbergMarquardt(Every(50)), solver=sgd(5.0), num_steps=400, **settings)
    factors = [record["damping_factor"] for record in long.records]
    assert max(factors) > 1
    assert long.records[-1]["rolled_back"] > 0
    assert all(np.log2(factor) % 1 == 0 for factor in factors)


def test_damping_that_adapts_is_what_the_phase_is_solved_with():
    settings = {"solver": sgd(0.05), "num_steps": 10}
    adapted = train(schedule=LevenbergMarquardt(Every(5), change=4.0), damping=0.2, **settings)
    assert adapted.records[-1]["damping_factor"] == 1 / 16
    switched = train(schedule=5, damping=iterlin.Switched(0.2, 0.05, after=1), **settings)
    close(flat(adapted), flat(switched))


# Errors.


@pytest.mark.parametrize(
    ("schedule", "settings", "words"),
    [
        (lambda: OnLinearisationError(0.0), {}, "the bound must be positive, got 0.0"),
        (lambda: TrustRegion(0.5, every=0), {}, "every must be at least 1, got 0"),
        (lambda: TrustRegion(0.5, at_least=10, at_most=9), {}, "at_most must be at least 10, got 9"),
        (lambda: iterlin.Growing(0, 2.0, 5), {}, "first must be at least 1, got 0"),
        (lambda: iterlin.Growing(1, 0.5, 5), {}, "factor must be at least 1, got 0.5"),
        (lambda: iterlin.Drawn(5, 4, KEYS[0]), {}, "most must be at least 5, got 4"),
        (lambda: Guarded(Every(2), halvings=-1), {}, "halvings must be at least 0, got -1"),
        (lambda: LevenbergMarquardt(Every(2), change=1.0), {}, "change must be above 1, got 1.0"),
        (lambda: LevenbergMarquardt(Every(2)), {}, "LevenbergMarquardt multiplies λ: give a damping above 0 to start"),
        (
            lambda: Guarded(Every(2)),
            {"batch_size": 4, "key": KEYS[0]},
            "Guarded compares losses of the whole training set: leave batch_size out",
        ),
        (
            lambda: Guarded(Every(2)),
            {"solver": iterlin.ClosedForm(0.05)},
            "the closed form jumps to the end of a phase, so it must be known",
        ),
        (
            lambda: Guarded(Every(2)),
            {"solver": iterlin.Dual(sgd(0.05))},
            "the schedule Guarded looks at the network, and",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Truncated(0.1)},
            "is made for proxies that are linear in θ, and",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Ridge(factorisation="qr")},
            "is made for proxies that are linear",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Dual(sgd(0.1))},
            "is made for proxies that are linear in θ, and",
        ),
    ],
)
def test_what_is_impossible_is_refused_in_a_line(schedule, settings, words):
    with pytest.raises(ValueError, match=words):
        train(schedule=schedule(), **settings)
