"""λ of the lazy problem, which may change between phases."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int


def _number(value: Any) -> Float[Array, ""]:
    return jnp.asarray(value, float)


def _whole(value: Any) -> Int[Array, ""]:
    if isinstance(value, int | float) and value % 1:
        raise ValueError(f"after must be a whole number of phases, at least 1, got {value}")
    return jnp.asarray(value, int)


class Switched(eqx.Module):
    """Damping with λ = `first` in the first `after` phases of a run, and with λ = `then` in all later ones.

    T (§6) expects larger values early in training to matter most. All three numbers are data: one compiled program
    serves them all, and also a λ that stays.

    **Raises**: `ValueError` for a λ that is negative or not finite, and for `after` below 1.
    """

    first: Float[Array, ""] = eqx.field(converter=_number)
    then: Float[Array, ""] = eqx.field(converter=_number)
    after: Int[Array, ""] = eqx.field(converter=_whole)

    def __check_init__(self):
        for damping in (self.first, self.then):
            if not isinstance(damping, Tracer) and not 0 <= damping < jnp.inf:
                raise ValueError(f"the damping λ must be at least 0 and finite, got {damping}")
        if not isinstance(self.after, Tracer) and self.after < 1:
            raise ValueError(f"after must be a whole number of phases, at least 1, got {self.after}")

    def at(self, feature_updates: Int[Array, "..."]) -> Float[Array, "..."]:
        """λ of the phase that follows so many feature updates."""
        return jnp.where(feature_updates < self.after, self.first, self.then)

    def values(self) -> tuple[float, float]:
        """λ of the first phases, and of the later ones."""
        return float(self.first), float(self.then)


def as_damping(damping: Any) -> Switched:
    """What was given as the damping: a `Switched`, or a number, which stays.

    **Raises**: `ValueError` for anything else.
    """
    if isinstance(damping, Switched):
        return damping
    if isinstance(damping, bool) or not eqx.is_array_like(damping) or jnp.ndim(damping):
        raise ValueError(f"damping must be a number λ, or a Switched(first, then, after), got {damping!r}")
    return Switched(damping, damping, 1)
