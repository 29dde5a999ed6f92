"""What is counted of phases in their dual, and what memory they may take."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from iterlin import BatchModel, dual_cost, functional
from iterlin._coordinates import coordinates
from iterlin._dual_cost import MEMORY, NETWORK, PASSES
from tests.problems import mlp, regression

KEY = jax.random.key(0)
X, _ = regression(KEY, n=12)


def lenet(channels):
    """A convolution on 16×16 images, and a layer of two outputs."""
    convolution, pool = eqx.nn.Conv2d(1, channels, 5, key=KEY), eqx.nn.MaxPool2d(12, 12)
    flat = eqx.nn.Lambda(jnp.ravel)
    return eqx.nn.Sequential([convolution, pool, flat, eqx.nn.Linear(channels, 2, key=KEY)])


@pytest.mark.parametrize(
    ("outputs", "seconds"),
    [
        (1000, 2 * 2000 * 1000 * 8 / NETWORK),  # a multiplication and an addition a weight
        (3, (2000 + 3) * 8 / MEMORY),  # inputs and outputs; weights are read once for all examples
    ],
)
def test_an_evaluation_takes_its_arithmetic_or_its_traffic(outputs, seconds):
    """Of a linear layer of 2000 inputs, in float64: whichever takes longer."""
    cost = dual_cost(eqx.nn.Linear(2000, outputs, use_bias=False, key=KEY), jnp.zeros((50, 2000)))
    assert cost.evaluation == pytest.approx(PASSES * 50 * seconds, rel=0.01)


def test_a_step_on_a_mini_batch_costs_its_share_of_a_full_one():
    whole, part = (dual_cost(mlp(KEY), X, batch_size=size) for size in (None, 4))
    assert part.evaluation == pytest.approx(whole.evaluation / 3)
    assert part.dual_evaluation == pytest.approx(whole.dual_evaluation / 3)
    assert part.start == whole.start


def test_more_work_in_the_network_needs_fewer_evaluations():
    images = jax.ShapeDtypeStruct((20, 1, 16, 16), float)
    costs = [dual_cost(lenet(channels), images) for channels in (4, 64)]
    assert costs[0].evaluation < costs[1].evaluation
    assert costs[1].break_even < costs[0].break_even < math.inf
    assert costs[1].break_even == costs[1].start / (costs[1].evaluation - costs[1].dual_evaluation)


def test_a_network_that_costs_nothing_beside_its_kernel_never_gains():
    assert dual_cost(eqx.nn.Linear(2, 20, key=KEY), jnp.zeros((500, 2))).break_even == math.inf


def test_the_bytes_are_those_that_a_phase_asks_for():
    params, fn = functional(mlp(KEY))
    needed = dual_cost(mlp(KEY), X).num_bytes
    assert coordinates(fn, params, X, needed).known
    with pytest.raises(ValueError, match=r"the dual form for n·out = 24 outputs takes .* bytes, more than max_bytes"):
        coordinates(fn, params, X, needed - 1)


def test_examples_that_meet_have_no_dual():
    class Mean(BatchModel):
        shift: jax.Array

        def __call__(self, x, state, key):
            return x - x.mean() + self.shift, state

    with pytest.raises(ValueError, match="examples"):
        dual_cost(Mean(jnp.zeros(())), jnp.zeros((4, 2)))
