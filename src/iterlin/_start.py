"""How a run starts: its lazy problem, and its state before the first step."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from iterlin._batches import Augment, FullBatch, MiniBatch, hoist_bytes
from iterlin._blocks import in_chunks, num_examples
from iterlin._damping import Switched
from iterlin._linearise import Functional, Trainable, functional, residual_bytes
from iterlin._losses import Loss
from iterlin._problem import Problem
from iterlin._schedules import Schedule
from iterlin._solvers import Solver
from iterlin._state import State, blank_state


def lazy_problem(
    model: Any,
    data: tuple[PyTree[Array], PyTree[Array]],
    *,
    loss: Loss,
    trainable: Trainable = eqx.is_inexact_array,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    at_once: int = 1,
    block_bytes: int | None = None,
    state: Any = None,
    damping: float | Switched = 0.0,
    divergence_factor: float = 1e4,
    key: Array | None = None,
) -> tuple[Problem, PyTree[Array]]:
    """The lazy problem on the training data (x, y), and θ_0 (see `train`).

    `state` is what the network starts with, and `at_once` says how many runs train in one program.
    """
    params, fn = functional(model, trainable, block_bytes=block_bytes)
    x, y = data
    key, own_key = (key, None) if not fn.random else jax.random.split(_given(key, "the network draws"))
    if batch_size is None:
        if augment is not None:
            raise ValueError("augmentation takes mini-batches, which are new at every step: give a batch_size")
        batches = FullBatch(_hoisted(fn, params, x, state, hoist, at_once))
    else:
        key = _given(key, "mini-batches are drawn")
        batches = MiniBatch(key, num_examples(x), batch_size, augment)
    dtype = jnp.result_type(*jax.tree.leaves(params))
    reference = _reference_loss(fn.recorded(x, state), loss, params, x, y)
    # Not zero: infinity times zero is no number.
    max_loss = divergence_factor * jnp.maximum(reference, jnp.finfo(reference.dtype).tiny)
    return Problem(fn, loss, batches, x, y, damping, max_loss.astype(dtype), own_key), params


def initial_state(
    problem: Problem, params: PyTree[Array], solver: Solver, schedule: Schedule, model_state: Any = None
) -> State:
    """The state before the first step: θ_s = θ_0."""
    state = blank_state(params, model_state, problem.batches.init(), schedule.init())
    return dataclasses.replace(state, solver_state=solver.init(params))


def _given(key: Array | None, what: str) -> Array:
    if key is None:
        raise ValueError(f"{what} at random: give a `key`")
    return key


def _hoisted(
    fn: Functional, params: PyTree[Array], x: PyTree[Array], state: Any, wanted: bool | None, at_once: int
) -> bool:
    """Whether a phase keeps its linearisation: as wanted, or where it fits and every step has the same."""
    changes = fn.random or state is not None
    if wanted and changes:
        raise ValueError("hoist: a network with a state or a key is new at every step, so no phase can keep it")
    if changes or wanted is not None:
        return bool(wanted)
    return residual_bytes(fn, params, x) <= hoist_bytes(at_once)


@eqx.filter_jit
def _reference_loss(fn, loss: Loss, params: PyTree[Array], x: PyTree[Array], y: PyTree[Array]) -> Float[Array, ""]:
    outputs = in_chunks(lambda x: fn(params, x), x)
    return jnp.maximum(loss(outputs, y), loss(jax.tree.map(jnp.zeros_like, outputs), y))
