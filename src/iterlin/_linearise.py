"""The first-order Taylor expansion of a network in its parameters."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from iterlin._blocks import in_blocks

CACHE = 2**19  # bytes: half of what the second-level cache of a core often holds

Trainable = Callable[[Any], bool] | PyTree[bool]


def require_real(params: PyTree[Array | np.ndarray]) -> None:
    """**Raises**: `ValueError` that names the first parameter that is complex.

    The kernel φφᵀ, norms and steps here take θ for a vector of real numbers.
    """
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating):
            raise ValueError(
                f"the parameter {jax.tree_util.keystr(path) or 'θ'} is {leaf.dtype}: parameters must be real, so keep "
                "the real and the imaginary part as two parameters"
            )


class Linearised(eqx.Module):
    """A network expanded about the parameters θ_s (T eq. 1 and 8).

        f_lin(θ, x) = f(θ_s, x) + φ_s(x) (θ − θ_s),    φ_s = ∂f/∂θ at θ_s, of shape (n·out, p).

    The Jacobian φ_s is never stored: it acts through forward and reverse differentiation. (T eq. 8 and
    Algorithm 3 transpose φ on the wrong side; Algorithm 1 of W and A expands about θ_0 where θ_s is meant.)

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out); `params0` is θ_s.
    """

    fn: Callable
    params0: PyTree[Array]

    def __check_init__(self):
        require_real(self.params0)

    def on(self, x: Array) -> Callable[[PyTree[Array]], Float[Array, "n out"]]:
        """Fix the inputs: θ ↦ f_lin(θ, x). The primal and its residuals are computed here, once."""
        outputs0, jvp = jax.linearize(lambda params: self.fn(params, x), self.params0)
        return lambda params: outputs0 + jvp(optax.tree.sub(params, self.params0))

    def __call__(self, params: PyTree[Array], x: Array) -> Float[Array, "n out"]:
        """f_lin(θ, x)."""
        difference = optax.tree.sub(params, self.params0)
        outputs0, change = jax.jvp(lambda params: self.fn(params, x), (self.params0,), (difference,))
        return outputs0 + change

    def jvp(self, tangent: PyTree[Array], x: Array) -> Float[Array, "n out"]:
        """v ↦ φ_s v."""
        return jax.jvp(lambda params: self.fn(params, x), (self.params0,), (tangent,))[1]

    def vjp(self, cotangent: Float[Array, "n out"], x: Array) -> PyTree[Array]:
        """u ↦ φ_sᵀ u."""
        return jax.vjp(lambda params: self.fn(params, x), self.params0)[1](cotangent)[0]

    def jacobian(self, x: Array) -> Float[Array, "m p"]:
        """φ_s itself, of shape (n·out, p), for networks and data that are small enough to store it."""
        params0, unravel = ravel_pytree(self.params0)

        def rows(example):  # each example is differentiated alone: no other enters its outputs
            return jax.jacrev(lambda params: self.fn(unravel(params), example[None])[0])(params0)

        return jax.vmap(rows)(x).reshape(-1, params0.size)


class Network(eqx.Module):
    """A network as it is, where a linearised one is expected."""

    fn: Callable

    def on(self, x: Array) -> Callable[[PyTree[Array]], Float[Array, "n out"]]:
        """Fix the inputs: θ ↦ f(θ, x)."""
        return lambda params: self.fn(params, x)


class _Functional(eqx.Module):
    """A model with its parameters taken out. Models of one architecture are equal, so they share compiled programs.

    A model maps one example, so a batch may be cut anywhere: into blocks of `block_bytes`, which stay in the cache of a
    processor from the first layer to the last, or not at all.
    """

    rest: Any
    block_bytes: int | None = eqx.field(static=True)

    def whole(self, params, x):
        """All examples at once."""
        return jax.vmap(eqx.combine(params, self.rest))(x)

    def __call__(self, params, x):
        if self.block_bytes is None:
            return self.whole(params, x)
        kept = residual_bytes(self.whole, params, x)
        return in_blocks(partial(self.whole, params), x, self.block_bytes * len(x) // max(1, kept))


def residual_bytes(fn: Callable[[PyTree[Array], Array], Array], params: PyTree[Array], x: Array) -> int:
    """What the derivative of θ ↦ f(θ, x) keeps in memory, the parameters that it needs included."""
    kept = eqx.filter_eval_shape(_derivative, fn, params, x)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(kept))


@eqx.filter_jit  # never run: so that what is asked again is not traced again
def _derivative(fn, params, x):
    return jax.vjp(lambda params: fn(params, x), params)[1]


def block_size(threads: int = 1) -> int | None:
    """The bytes of a block that are fast where jax computes: half a mebibyte a thread on a CPU; no blocks elsewhere."""
    return threads * CACHE if jax.default_backend() == "cpu" else None


def functional(
    model: Any, trainable: Trainable = eqx.is_inexact_array, *, block_bytes: int | None = None
) -> tuple[PyTree[Array], Callable[[PyTree[Array], Array], Array]]:
    """An equinox module as its parameters θ and the function f(θ, x) on a batch of inputs.

    **Arguments**: `trainable` says which leaves are parameters, as `eqx.partition` takes it: a function of a leaf, or a
    tree of booleans. By default every array of floating-point numbers is one, also a constant or a running mean.
    `block_bytes` is what the derivatives of a block of examples keep. By default it is half a mebibyte where jax
    computes on a CPU, and all examples are one block elsewhere.

    **Raises**: `ValueError` if a parameter is complex.
    """
    params, rest = eqx.partition(model, trainable)
    require_real(params)
    return jax.tree.map(jnp.asarray, params), _Functional(rest, block_size() if block_bytes is None else block_bytes)
