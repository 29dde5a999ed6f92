"""First-order solvers: any optax optimiser, with its learning rate as data."""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

AtFeatureUpdate = Literal["reset", "keep"]


class FirstOrder(eqx.Module):
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

    def init(self, params: PyTree[Array]) -> PyTree:
        """The state at the start of training."""
        return self._optimiser(params).init(params)

    def relinearise(self, params: PyTree[Array], state: PyTree) -> PyTree:
        """The state with which the next phase starts."""
        return self.init(params) if self.at_feature_update == "reset" else state

    def step(self, gradient: PyTree[Array], params: PyTree[Array], state: PyTree) -> tuple[PyTree, PyTree]:
        """θ_{t+1} and the new state."""
        updates, state = self._optimiser(params).update(gradient, state, params)
        return optax.apply_updates(params, updates), state

    def _optimiser(self, params):
        dtype = jnp.result_type(*jax.tree.leaves(params))
        return self.make(**{name: value.astype(dtype) for name, value in self.hyperparams.items()})


def sgd(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **hyperparams) -> FirstOrder:
    """Gradient descent, θ ← θ − ηg; `momentum=` makes it the heavy-ball method."""
    return FirstOrder(optax.sgd, {"learning_rate": learning_rate, **hyperparams}, at_feature_update)


def adam(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **hyperparams) -> FirstOrder:
    """Adam, with optax's defaults."""
    return FirstOrder(optax.adam, {"learning_rate": learning_rate, **hyperparams}, at_feature_update)
