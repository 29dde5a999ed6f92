"""First-order solvers: any optax optimiser, with its learning rate as data."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._solvers.solver import Solver
from iterlin._solvers.stepwise import Stepwise, Taken

AtFeatureUpdate = Literal["reset", "keep"]


class FirstOrder(Stepwise):
    """An optax optimiser on the lazy problem.

    **Arguments**: `make` builds the optimiser from `hyperparams` (for example `optax.sgd` and `learning_rate`). These
    are data, so no value of them recompiles anything. `options` are further arguments of `make` which are no numbers,
    as pairs of a name and a value. `at_feature_update` says what becomes of momenta when the network is re-linearised:
    `"reset"`, since a new convex problem begins, or `"keep"`.
    """

    takes_network: ClassVar[bool] = True

    make: Callable[..., optax.GradientTransformation] = eqx.field(static=True)
    hyperparams: dict[str, Float[Array, ""]] = eqx.field(
        converter=lambda hyperparams: {name: jnp.asarray(value, float) for name, value in hyperparams.items()}
    )
    at_feature_update: AtFeatureUpdate = eqx.field(static=True, default="reset")
    options: tuple[tuple[str, Any], ...] = eqx.field(static=True, default=())

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

    def in_any_basis(self):
        """Momenta that are kept may leave the span of the next phase."""
        return self.make is optax.sgd and self.at_feature_update == "reset"

    def explicit_rate(self):
        plain = self.make is optax.sgd and self.hyperparams.keys() == {"learning_rate"}
        return self.hyperparams["learning_rate"] if plain else None

    def _optimiser(self, params):
        dtype = jnp.result_type(*jax.tree.leaves(params))
        numbers = {name: value.astype(dtype) for name, value in self.hyperparams.items()}
        return self.make(**numbers, **dict(self.options))


def sgd(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **arguments: Any) -> FirstOrder:
    """Gradient descent, θ ← θ − ηg; `momentum=` makes it the heavy-ball method, and `nesterov=True` Nesterov's."""
    return _first_order(optax.sgd, {"learning_rate": learning_rate} | arguments, at_feature_update)


def adam(learning_rate: float | Array, *, at_feature_update: AtFeatureUpdate = "reset", **arguments: Any) -> FirstOrder:
    """Adam, with optax's defaults, or with other arguments of `optax.adam`."""
    return _first_order(optax.adam, {"learning_rate": learning_rate} | arguments, at_feature_update)


def _first_order(make: Callable, arguments: Mapping[str, Any], at_feature_update: AtFeatureUpdate) -> FirstOrder:
    """Numbers are data; what is no number decides the program."""
    numbers = {name: value for name, value in arguments.items() if _is_number(value)}
    options = tuple((name, value) for name, value in sorted(arguments.items()) if name not in numbers)
    return FirstOrder(make, numbers, at_feature_update, options)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | jax.Array) and not isinstance(value, bool)


def as_solver(solver: Any) -> Solver:
    """A solver; an optax optimiser, whose state is reset at feature updates; or a number, which is η of `sgd`.

    An optimiser that is built already holds its learning rate as a constant: another one compiles another program.

    **Raises**: `ValueError` for anything else.
    """
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, optax.GradientTransformation):
        return FirstOrder(partial(_built, solver), {})
    if isinstance(solver, int | float) and not isinstance(solver, bool):
        return sgd(solver)
    raise ValueError(f"solver must be one such as iterlin.sgd(0.1), an optax optimiser, or the rate η, got {solver!r}")


def _built(optimiser: optax.GradientTransformation) -> optax.GradientTransformation:
    return optimiser
