"""How a run starts: its lazy problem, and its state before the first step."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from iterlin._batches import HOIST_BYTES, Augment, FullBatch, MiniBatch
from iterlin._blocks import in_chunks
from iterlin._linearise import Trainable, functional, residual_bytes
from iterlin._losses import Loss
from iterlin._problem import Problem
from iterlin._schedules import Schedule
from iterlin._solvers import Solver
from iterlin._state import State, blank_state


def lazy_problem(
    model: Any,
    data: tuple[Array, Array],
    *,
    loss: Loss,
    trainable: Trainable = eqx.is_inexact_array,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    block_bytes: int | None = None,
    damping: float = 0.0,
    divergence_factor: float = 1e4,
    key: Array | None = None,
) -> tuple[Problem, PyTree[Array]]:
    """The lazy problem on the training data (x, y), and θ_0 (see `train`)."""
    if not 0 <= damping < jnp.inf:
        raise ValueError(f"the damping λ must be at least 0 and finite, got {damping}")
    params, fn = functional(model, trainable, block_bytes=block_bytes)
    x, y = data
    if batch_size is None:
        fits = hoist is None and residual_bytes(fn, params, x) <= HOIST_BYTES
        if augment is not None:
            raise ValueError("augmentation takes mini-batches, which are new at every step: give a batch_size")
        batches = FullBatch(fits or bool(hoist))
    else:
        batches = _mini_batches(batch_size, len(x), augment, key)
    dtype = jnp.result_type(*jax.tree.leaves(params))
    reference = _reference_loss(fn, loss, params, x, y)
    # Not zero: infinity times zero is no number.
    max_loss = divergence_factor * jnp.maximum(reference, jnp.finfo(reference.dtype).tiny)
    return Problem(fn, loss, batches, x, y, jnp.asarray(damping, dtype), max_loss.astype(dtype)), params


def initial_state(problem: Problem, params: PyTree[Array], solver: Solver, schedule: Schedule) -> State:
    """The state before the first step: θ_s = θ_0."""
    state = blank_state(params, problem.batches.init(), schedule.init())
    return dataclasses.replace(state, solver_state=solver.init(params))


def _mini_batches(batch_size: int, num_examples: int, augment: Augment | None, key: Array | None) -> MiniBatch:
    if key is None:
        raise ValueError("mini-batches are drawn at random: give a `key`")
    return MiniBatch(key, num_examples, batch_size, augment)


@eqx.filter_jit
def _reference_loss(fn, loss: Loss, params: PyTree[Array], x: Array, y: Array) -> Float[Array, ""]:
    outputs = in_chunks(lambda x: fn(params, x), x)
    return jnp.maximum(loss(outputs, y), loss(jnp.zeros_like(outputs), y))
