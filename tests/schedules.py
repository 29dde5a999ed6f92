"""Short runs on a small problem, and when they re-linearise."""

import itertools

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

import iterlin
from iterlin import sgd
from tests.problems import mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)
DATA = regression(KEYS[1])


def train(model=None, data=None, **settings):
    defaults = {"loss": iterlin.squared_error, "solver": sgd(0.05), "schedule": 5, "num_steps": 60}
    splits = {"train": DATA if data is None else data}
    return iterlin.train(mlp(KEYS[0]) if model is None else model, splits, **(defaults | settings))


def name(schedule):
    return type(schedule).__name__


def flat(result):
    return ravel_pytree(result.state.params)[0]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # float64, some dozens of steps of order 1


def phases(result):
    """The lengths of the phases, from records of every step."""
    steps = [int(record["phase_step"]) for record in result.records]
    return [a for a, b in itertools.pairwise(steps) if b <= a]


def every_step(**settings):
    return train(records_per_decade=1000, **settings)
