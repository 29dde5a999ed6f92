"""Conjugate gradients within a ball, the same on every processor."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PyTree

Params = PyTree[Array]
Scalar = Float[Array, ""]
Count = Int[Array, ""]

KEPT_BYTES = 2**27  # of the residuals that are kept
GROUP = 16  # of them, that a residual is made orthogonal to at once


class Residuals(NamedTuple):
    """The residuals of conjugate gradients, of length one, as many as are kept; the others are zero."""

    rows: Float[Array, "kept p"]

    @staticmethod
    def none(like: Params, max_iterations: int) -> "Residuals":
        """None yet, of as many as there are iterations or fit into memory, in whole groups."""
        flat, _ = ravel_pytree(like)
        groups = min(-(-max_iterations // GROUP), KEPT_BYTES // (GROUP * flat.nbytes))
        return Residuals(jnp.zeros((groups * GROUP, flat.size), flat.dtype))

    def added(self, residual: Params, squared: Scalar, iteration: Count) -> "Residuals":
        """With this one, which has a length; where there is no room for it, it is left out."""
        if not len(self.rows):
            return self
        flat, _ = ravel_pytree(residual)
        return Residuals(self.rows.at[iteration].set(flat / jnp.sqrt(squared), mode="drop"))

    def orthogonal(self, residual: Params, iteration: Count) -> Params:
        """What is orthogonal to all that are kept. Rounding needs it twice (Giraud, Langou and Rozložník 2005)."""
        if not len(self.rows):
            return residual
        flat, unravel = ravel_pytree(residual)
        groups = jnp.minimum(iteration // GROUP + 1, len(self.rows) // GROUP)

        def without(i, flat):
            rows = jax.lax.dynamic_slice_in_dim(self.rows, i * GROUP, GROUP)
            return flat - (rows @ flat) @ rows

        for _ in range(2):
            flat = jax.lax.fori_loop(0, groups, without, flat)
        return unravel(flat)


def conjugate_gradients(
    matrix: Callable[[Params], Params],
    target: Params,
    tolerance: Scalar,
    max_iterations: int,
    radius: Scalar | float = jnp.inf,
) -> tuple[Params, Count]:
    """x with ‖b − Ax‖ ≤ `tolerance`, for a positive semi-definite A, from x = 0; and the iterations that it took.

    Where the way leads out of the ball ‖x‖ < `radius`, or along a flat direction, x is where it crosses the border.
    The residual is the one that is updated, which rounding lets drift from b − Ax. It is made orthogonal to all
    residuals before it that fit into `KEPT_BYTES`, as it is without rounding. Otherwise rounding grows within some tens
    of iterations until x, within the tolerance, is another one on every processor.
    """
    kept = Residuals.none(target, max_iterations)

    def unfinished(loop):
        _, _, _, squared, iteration, _ = loop
        return (squared > tolerance**2) & (iteration < max_iterations)

    def iterate(loop):
        x, residual, direction, squared, iteration, kept = loop
        kept = kept.added(residual, squared, iteration)
        product = matrix(direction)
        curvature = jnp.asarray(optax.tree.vdot(direction, product))
        rate = jnp.where(curvature > 0, squared / jnp.where(curvature > 0, curvature, 1), 0)
        farthest = _to_border(x, direction, radius)
        out = (curvature <= 0) | (rate >= farthest)
        rate = jnp.where(out & jnp.isfinite(farthest), farthest, rate)
        x = optax.tree.add_scale(x, rate, direction)
        residual = kept.orthogonal(optax.tree.add_scale(residual, -rate, product), iteration)
        new = jnp.where(out, 0, optax.tree.norm(residual, squared=True))  # no way on
        direction = optax.tree.add_scale(residual, new / squared, direction)
        return x, residual, direction, new, iteration + 1, kept

    zero = jax.tree.map(jnp.zeros_like, target)
    start = (zero, target, target, optax.tree.norm(target, squared=True), jnp.zeros((), int), kept)
    x, *_, iterations, _ = jax.lax.while_loop(unfinished, iterate, start)
    return x, iterations


def _to_border(x: Params, direction: Params, radius: Scalar | float) -> Scalar:
    """τ ≥ 0 with ‖x + τd‖ = radius, for an x within."""
    squared = optax.tree.norm(direction, squared=True)
    along = jnp.asarray(optax.tree.vdot(x, direction))
    room = jnp.maximum(radius**2 - jnp.asarray(optax.tree.norm(x, squared=True)), 0)
    return room / (along + jnp.sqrt(along**2 + squared * room))
