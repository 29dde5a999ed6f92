"""First-order solvers: any optax optimiser, with its learning rate as data."""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PyTree

from iterlin._problem import Lazy
from iterlin._solvers.solver import Stepwise, Taken

AtFeatureUpdate = Literal["reset", "keep"]


class FirstOrder(Stepwise):
    """An optax optimiser on the lazy problem.

    **Arguments**: `make` builds the optimiser from `hyperparams` (for example `optax.sgd` and `learning_rate`). These
    are data, so no value of them recompiles anything. `at_feature_update` says what becomes of momenta when the
    network is re-linearised: `"reset"`, since a new convex problem begins, or `"keep"`.
    """

    make: Callable[..., optax.GradientTransformation] = eqx.field(static=True)
    hyperparams: dict[str, Float[Array, ""]] = eqx.field(
        converter=lambda hyperparams: {name: jnp.asarray(value, float) for name, value in hyperparams.items()}
    )
    at_feature_update: AtFeatureUpdate = eqx.field(static=True, default="reset")

    def __check_init__(self):
        if self.at_feature_update not in ("reset", "keep"):
            raise ValueError(f"at_feature_update must be 'reset' or 'keep', got {self.at_feature_update!r}")
        rate = self.hyperparams.get("learning_rate", jnp.ones(()))
        if not isinstance(rate, Tracer) and not 0 < rate < jnp.inf:
            raise ValueError(f"the learning rate η must be positive and finite, got {rate}")

    def init(self, params):
        return self._optimiser(params).init(params)

    def relinearise(self, params, state):
        return self.init(params) if self.at_feature_update == "reset" else state

    def step(
        self, lazy: Lazy, gradient: PyTree[Array], params: PyTree[Array], state: Any, limit: Int[Array, ""]
    ) -> Taken:
        """θ_{t+1}."""
        updates, state = self._optimiser(params).update(gradient, state, params)
        one = jnp.ones_like(limit)
        return Taken(optax.apply_updates(params, updates), state, steps=one, evaluations=one)

    def explicit_rate(self):
        plain = self.make is optax.sgd and self.hyperparams.keys() == {"learning_rate"}
        return self.hyperparams["learning_rate"] if plain else None

    def _optimiser(self, params):
        dtype = jnp.result_type(*jax.tree.leaves(params))
        return self.make(**{name: value.astype(dtype) for name, value in self.hyperparams.items()})


def sgd(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **hyperparams) -> FirstOrder:
    """Gradient descent, θ ← θ − ηg; `momentum=` makes it the heavy-ball method."""
    return FirstOrder(optax.sgd, {"learning_rate": learning_rate, **hyperparams}, at_feature_update)


def adam(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **hyperparams) -> FirstOrder:
    """Adam, with optax's defaults."""
    return FirstOrder(optax.adam, {"learning_rate": learning_rate, **hyperparams}, at_feature_update)
