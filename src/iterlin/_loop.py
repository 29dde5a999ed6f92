"""The steps of iterative linearisation for a loop of one's own."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from iterlin._lazy import Lazy
from iterlin._linearise import Linearised, stateless
from iterlin._losses import Loss
from iterlin._solvers import Stepwise


class LoopState(NamedTuple):
    """What a step depends on."""

    params: PyTree[Array]  # θ_t
    params0: PyTree[Array]  # θ_s
    solver_state: Any


class Loop(eqx.Module):
    """`init`, `step` and `relinearise` as pure functions of pytrees, for use in `jit`, `vmap` and `scan`.

    `train` has schedules, records and checkpoints; this has the mathematics alone, and any order of calls is allowed.

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out), as `functional` makes it. `solver`
    is a compiled one, such as `sgd(η)`. `damping` is λ of the lazy problem.
    """

    fn: Callable
    loss: Loss = eqx.field(static=True)
    solver: Stepwise
    damping: Float[Array, ""] = eqx.field(converter=lambda value: jnp.asarray(value, float), default=0.0)

    def init(self, params: PyTree[Array]) -> LoopState:
        """The state at θ_0 = θ_s."""
        return LoopState(params, params, self.solver.init(params))

    def lazy(self, state: LoopState, x: Array, y: Array) -> Lazy:
        """The lazy problem about θ_s on these examples: its value, gradient, curvature and linearisation error at θ."""
        model = Linearised(self.fn, state.params0)
        return Lazy(model, state.params0, stateless(model.on(x)), x, y, self.loss, self.damping)

    def step(self, state: LoopState, x: Array, y: Array) -> LoopState:
        """θ_{t+1}: one step of the solver on the lazy problem of these examples."""
        lazy = self.lazy(state, x, y)
        limit = jnp.ones((), int)
        taken = self.solver.step(lazy, lazy.gradient(state.params), state.params, state.solver_state, limit)
        return LoopState(taken.params, state.params0, taken.state)

    def relinearise(self, state: LoopState) -> LoopState:
        """The feature update: θ_s ← θ_t."""
        return LoopState(state.params, state.params, self.solver.relinearise(state.params, state.solver_state))
