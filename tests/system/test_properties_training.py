"""Whatever numbers it is given, training answers with a valid result or with an error of its own."""

import math
import re
import traceback
from itertools import pairwise
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import iterlin
from iterlin import (
    ClosedForm,
    Every,
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

KEY = jax.random.key(0)
MODEL = mlp(KEY)
FULL = {"train": classification(KEY, n=6), "test": classification(jax.random.key(1), n=4)}
ONE = {"only": classification(KEY, n=1)}
REAL = {"train": regression(KEY, n=6)}
ONE_CLASS = {name: (x, jnp.zeros_like(y)) for name, (x, y) in FULL.items()}  # and the other is missing

# Few programs, which all examples share: what is compiled depends on these alone.
PROGRAMS = {
    "steps": (FULL, cross_entropy, sgd, Every, None),
    "mini-batches": (FULL, cross_entropy, sgd, Every, 4),
    "network": (FULL, cross_entropy, sgd, lambda K: Every(1), None),
    "one example": (ONE, cross_entropy, sgd, Every, None),
    "one class": (ONE_CLASS, cross_entropy, sgd, Every, None),
    "convergence": (FULL, cross_entropy, adam, lambda K: OnConvergence(1 / (1 + K)), None),
    "flow": (FULL, cross_entropy, Flow, Every, None),
    "closed form": (REAL, squared_error, ClosedForm, Every, None),
}


def check(result, schedule, num_steps, fit_loss=None, train="train", own_flow=False):
    """The laws of the records of a run; of the network's own flow, one step of the solver is many."""
    records, outcome = result.records, result.outcome
    steps = [record["step"] for record in records]
    assert steps[0] == 0
    assert all(a < b for a, b in pairwise(steps))
    assert steps[-1] <= num_steps
    for record in records:
        check_updates(record, schedule, own_flow, diverged=outcome is Outcome.diverged and record is records[-1])
    if outcome is Outcome.step_limit:
        assert steps[-1] == num_steps
    if outcome is Outcome.fitted:
        assert records[-1][f"network_{train}_loss"] <= fit_loss
        assert records[-1].get(f"network_{train}_accuracy", 1) == 1


def check_updates(record, schedule, own_flow, diverged):
    """t = KU + p for U feature updates and p steps since: a phase is left when the next step is taken, 1 ≤ p ≤ K.

    Only at step 0, and where the first step of a phase diverges, is p = 0. Where K = 1 is the network's own flow, p is
    the number of steps that the solver has last taken at once.
    """
    step, updates, since = (record[name] for name in ("step", "feature_updates", "phase_step"))
    assert since > 0 or step == 0 or diverged
    if isinstance(schedule, Every):
        period = int(schedule.period)
        assert step == period * updates + since
        assert since <= period or own_flow
    else:
        assert updates + since <= step


def trained(program, K, rate, num_steps, damping, fit_loss, splits=None, **settings):
    """The result of a run, and its schedule."""
    own, loss, solver, schedule, batch_size = PROGRAMS[program]
    schedule = schedule(K)
    arguments = {"loss": loss, "schedule": schedule, "num_steps": num_steps, "fit_loss": fit_loss, **settings}
    arguments = {"batch_size": batch_size, "key": KEY, "damping": damping} | arguments
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam needs it
        return train(MODEL, splits or own, solver=solver(rate), **arguments), schedule


def first_split(program):
    """The name of the split that a program trains on."""
    return next(iter(PROGRAMS[program][0]))


VALID = {
    "program": st.sampled_from(list(PROGRAMS)),
    "K": st.sampled_from([1, 2, 3, 7, 50, 2**31 - 1, 2**63 - 1]),
    "rate": st.sampled_from([0.1, 0.5, 1e-9, 10.0, 1e30]),
    "num_steps": st.sampled_from([20, 1, 13]),
    "damping": st.sampled_from([0.0, 0.1]),
    "fit_loss": st.sampled_from([None, 0.5, 10.0]),
    "divergence_factor": st.sampled_from([1e4, math.inf]),
    "first_record": st.sampled_from([1, 5, 1000]),
    "records_per_decade": st.sampled_from([1, 3, 20]),
}
IMPOSSIBLE = {
    "K": [0, -1, 2**63, 2.5, math.inf, math.nan],
    "rate": [0.0, -0.1, math.nan, math.inf],
    "num_steps": [0, -1, 2**63 - 1, 10**30],
    "damping": [-0.1, math.nan, math.inf],
    "fit_loss": [-1.0, math.nan],
    "divergence_factor": [0.5, -1.0, math.nan],
    "first_record": [0, -1],
    "records_per_decade": [0, -1],
}


@given(st.fixed_dictionaries(VALID))
@settings(max_examples=20)
def test_possible_numbers_give_a_valid_result_twice_the_same(numbers):
    (result, schedule), (again, _) = trained(**numbers), trained(**numbers)
    own_flow = (numbers["program"], numbers["K"], numbers["damping"]) == ("flow", 1, 0.0)
    check(result, schedule, numbers["num_steps"], numbers["fit_loss"], first_split(numbers["program"]), own_flow)
    assert again.outcome is result.outcome
    np.testing.assert_equal(again.records, result.records)


@given(
    st.fixed_dictionaries(VALID),
    st.sampled_from([(name, value) for name, values in IMPOSSIBLE.items() for value in values]),
)
@settings(max_examples=100)
def test_an_impossible_number_is_an_error_of_ours(numbers, impossible):
    name, value = impossible
    # The one schedule takes no K, the other makes a tolerance of K.
    assume((name, numbers["program"]) not in [("K", "network"), ("K", "convergence")])
    with pytest.raises(ValueError, match=re.escape(f"{value}")) as error:
        trained(**numbers | {name: value})
    raised = Path(traceback.extract_tb(error.value.__traceback__)[-1].filename)
    assert raised.is_relative_to(Path(iterlin.__file__).parent)


@given(
    st.lists(st.sampled_from([0.1, 0.5, 10.0, 1e30]), min_size=2, max_size=2),
    VALID["K"],
    VALID["num_steps"],
    VALID["first_record"],
    VALID["records_per_decade"],
)
@settings(max_examples=8)
def test_runs_that_train_at_once_keep_the_laws_each(rates, K, num_steps, first_record, records_per_decade):
    schedule, runs = Every(K), [Run(MODEL, FULL, sgd(rate)) for rate in rates]
    settings = {"first_record": first_record, "records_per_decade": records_per_decade}
    results = train_many(runs, loss=cross_entropy, schedule=schedule, num_steps=num_steps, **settings)
    for result in results:
        check(result, schedule, num_steps)


@pytest.mark.parametrize("batch_size", [1, 5])
def test_every_size_of_batch_trains(batch_size):
    check(*trained("steps", 3, 0.1, 13, 0.0, None, batch_size=batch_size), num_steps=13)


@pytest.mark.parametrize("batch_size", [0, 7, -1])
def test_no_other_size_of_batch_does(batch_size):
    with pytest.raises(ValueError, match=f"batch_size must lie between 1 and the 6 examples, got {batch_size}"):
        trained("steps", 3, 0.1, 13, 0.0, None, batch_size=batch_size)


X, Y = FULL["train"]
REFUSED = {
    "lengths": ({"train": (X, Y[:5])}, "split 'train': x and y differ in their numbers of examples: (6, 3) and (5,)"),
    "no examples": ({"train": (X, Y), "test": (X[:0], Y[:0])}, "split 'test' has no examples"),
    "no splits": ({}, "there are no splits: the first is trained on"),
    "label too large": ({"train": (X, Y.at[0].set(2))}, "labels must lie between 0 and 1, the last of the model's "),
    "label below 0": ({"train": (X, Y), "test": (X, Y - 1)}, "split 'test': labels must lie between 0 and 1"),
    "labels of two dimensions": (
        {"train": (X, Y[:, None])},
        "cross_entropy takes class labels, one for each vector of outputs",
    ),
    "no labels": ({"train": (X, X[:, 0])}, "split 'train': cross_entropy takes integer class labels, got float64"),
    "shapes": ({"train": (X, Y), "test": (X[:, :2], Y)}, "examples differ in shape between splits"),
    "inputs": ({"train": (X[:, :2], Y)}, "split 'train': the model cannot take an example of shape (2,)"),
    "a number": ({"train": (X[0, 0], Y)}, "x and y differ in their numbers of examples"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_data_are_named(name):
    splits, message = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        train(MODEL, splits, loss=cross_entropy, solver=sgd(0.1), schedule=Never(), num_steps=3)


@pytest.mark.parametrize("y", [X[:, 0], X, Y])
def test_squared_error_takes_targets_of_the_shape_of_the_outputs_alone(y):
    message = r"split 'train': squared_error takes real targets of the shape of the outputs, \(6, 2\), got .*"
    with pytest.raises(ValueError, match=message):
        train(MODEL, {"train": (X, y)}, loss=squared_error, solver=sgd(0.1), schedule=Never(), num_steps=3)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (jnp.sum, "the model has no parameters to train"),
        (eqx.nn.MLP(3, "scalar", 4, 1, key=KEY), "the model must map an example to a vector of outputs"),
    ],
)
def test_impossible_models_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        train(model, FULL, loss=cross_entropy, solver=sgd(0.1), schedule=Never(), num_steps=3)


def test_where_the_first_loss_is_zero_no_bound_is_still_none():
    model = jax.tree.map(lambda leaf: 0 * leaf if eqx.is_array(leaf) else leaf, MODEL)
    settings = {"loss": squared_error, "solver": sgd(0.1), "schedule": Every(3), "num_steps": 13}
    result = train(model, {"train": (X, 0 * X[:, :2])}, divergence_factor=math.inf, **settings)
    assert result.outcome is Outcome.step_limit


class Permuted(eqx.Module):
    """A network whose inputs are reordered by a constant."""

    order: jax.Array | np.ndarray
    net: eqx.nn.MLP

    def __call__(self, x):
        return self.net(x[self.order])


@pytest.mark.parametrize("of", [np.array, jnp.array])
def test_constants_of_a_model_stay_as_they_are(of):
    settings = {"loss": cross_entropy, "solver": sgd(0.1), "schedule": Every(3), "num_steps": 5}
    result = train(Permuted(of([2, 0, 1]), MODEL), FULL, **settings)
    reordered = {name: (x[:, jnp.array([2, 0, 1])], y) for name, (x, y) in FULL.items()}
    assert result.model.order.tolist() == [2, 0, 1]
    assert eqx.tree_equal(result.model.net, train(MODEL, reordered, **settings).model)
