"""The Taylor expansion of a network in its parameters, up to the second order."""

from collections.abc import Callable
from typing import Any, cast

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._linearise import Forward, Functional, Predict, require_real, stateless


class Expanded(eqx.Module):
    """A network expanded about the parameters θ_s to the order 1 or 2 (Bai et al. 2020, "Taylorized training").

        f_1(θ, x) = f(θ_s, x) + φ_s(x) δ,    f_2(θ, x) = f_1(θ, x) + ½ δᵀ (∂²f/∂θ²)(θ_s, x) δ,    δ = θ − θ_s.

    Order 1 is `Linearised`. No derivative is stored: forward differentiation along δ, once and twice, gives φ_s δ and
    the last term. With order 2 a convex loss is not convex in θ. As long as the same ReLUs are active for the examples,
    a network of ReLUs is a polynomial in θ, of its number of layers as degree: f_2 is exact there for two layers. What
    happens at the kinks enters neither order.

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out), or to a tree of such arrays, as
    inputs may be one too; `params0` is θ_s; `order` is the degree in δ.

    **Raises**: `ValueError` for another order, or if a parameter is complex.
    """

    fn: Callable
    params0: PyTree[Array]
    order: int = eqx.field(static=True)

    def __check_init__(self):
        require_real(self.params0)
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {self.order}")

    def on(self, x: PyTree[Array]) -> Predict:
        """Fix the inputs: θ ↦ the expansion at θ."""
        return lambda params: self(params, x)

    def with_state(self, x: PyTree[Array]) -> Forward:
        """The same with the network's state after the inputs at θ_s, which is not expanded; `fn` is a `Functional`."""
        fn = cast("Functional", self.fn)
        return lambda params: self._expansion(lambda at: fn.with_state(at, x), params)

    def __call__(self, params: PyTree[Array], x: PyTree[Array]) -> PyTree[Float[Array, "n ..."]]:
        """The expansion at θ."""
        return self._expansion(stateless(lambda at: self.fn(at, x)), params)[0]

    def _expansion(self, forward: Forward, params: PyTree[Array]) -> tuple[PyTree[Array], Any]:
        """The sum of the terms, and the state at θ_s."""
        delta = optax.tree.sub(params, self.params0)

        def along(at):  # f and φδ
            outputs, change, state = jax.jvp(forward, (at,), (delta,), has_aux=True)
            return (outputs, change), state

        if self.order == 1:
            (outputs, first), state = along(self.params0)
            return optax.tree.add(outputs, first), state
        (outputs, first), (_, second), state = jax.jvp(along, (self.params0,), (delta,), has_aux=True)
        return jax.tree.map(lambda f, df, ddf: f + df + ddf / 2, outputs, first, second), state
