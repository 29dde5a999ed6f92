"""The first-order Taylor expansion of a network in its parameters."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from iterlin._batch_model import BatchModel, ByBatch
from iterlin._blocks import in_blocks, in_chunks, num_bytes, num_examples, rows

CACHE = 2**19  # bytes: half of what the second-level cache of a core often holds

Trainable = Callable[[Any], bool] | PyTree[bool]
Predict = Callable[[PyTree[Array]], PyTree[Array]]  # θ ↦ outputs
Forward = Callable[[PyTree[Array]], tuple[PyTree[Array], Any]]  # θ ↦ outputs, and the network's state after them


def require_real(params: PyTree[Array | np.ndarray]) -> None:
    """**Raises**: `ValueError` that names the first parameter that is complex, or no floating-point number.

    The kernel φφᵀ, norms and steps here take θ for a vector of real numbers.
    """
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        name, dtype = jax.tree_util.keystr(path) or "θ", jnp.result_type(leaf)
        if jnp.issubdtype(dtype, jnp.complexfloating):
            raise ValueError(
                f"the parameter {name} is {dtype}: parameters must be real, so keep the real and the imaginary part as "
                "two parameters"
            )
        if not jnp.issubdtype(dtype, jnp.floating):
            raise ValueError(f"the parameter {name} is {dtype}, which has no derivative: leave it out of `trainable`")


class Linearised(eqx.Module):
    """A network expanded about the parameters θ_s (T eq. 1 and 8).

        f_lin(θ, x) = f(θ_s, x) + φ_s(x) (θ − θ_s),    φ_s = ∂f/∂θ at θ_s, of shape (n·out, p).

    The Jacobian φ_s is never stored: it acts through forward and reverse differentiation. (T eq. 8 and
    Algorithm 3 transpose φ on the wrong side; Algorithm 1 of W and A expands about θ_0 where θ_s is meant.)

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out), or to a tree of such arrays, as
    inputs may be one too; `params0` is θ_s.
    """

    fn: Callable
    params0: PyTree[Array]

    def __check_init__(self):
        require_real(self.params0)

    def on(self, x: PyTree[Array]) -> Predict:
        """Fix the inputs: θ ↦ f_lin(θ, x). The primal and its residuals are computed here, once."""
        outputs0, jvp = jax.linearize(lambda params: self.fn(params, x), self.params0)
        return lambda params: jax.tree.map(jnp.add, outputs0, jvp(optax.tree.sub(params, self.params0)))

    def with_state(self, x: PyTree[Array]) -> Forward:
        """The same with the network's state after the inputs at θ_s, which is not expanded; `fn` is a `Functional`."""
        fn = cast("Functional", self.fn)
        outputs0, jvp, state = jax.linearize(lambda params: fn.with_state(params, x), self.params0, has_aux=True)
        return lambda params: (jax.tree.map(jnp.add, outputs0, jvp(optax.tree.sub(params, self.params0))), state)

    def __call__(self, params: PyTree[Array], x: PyTree[Array]) -> PyTree[Float[Array, "n ..."]]:
        """f_lin(θ, x)."""
        difference = optax.tree.sub(params, self.params0)
        outputs0, change = jax.jvp(lambda params: self.fn(params, x), (self.params0,), (difference,))
        return jax.tree.map(jnp.add, outputs0, change)

    def jvp(self, tangent: PyTree[Array], x: PyTree[Array]) -> PyTree[Float[Array, "n ..."]]:
        """v ↦ φ_s v."""
        return jax.jvp(lambda params: self.fn(params, x), (self.params0,), (tangent,))[1]

    def vjp(self, cotangent: PyTree[Float[Array, "n ..."]], x: PyTree[Array]) -> PyTree[Array]:
        """u ↦ φ_sᵀ u."""
        return jax.vjp(lambda params: self.fn(params, x), self.params0)[1](cotangent)[0]

    def jacobian(self, x: PyTree[Array]) -> Float[Array, "m p"]:
        """φ_s itself, of shape (n·out, p), for networks and data that are small enough to store it.

        **Raises**: `ValueError` if examples meet in the network.
        """
        require_alone(self.fn)
        params0, unravel = ravel_pytree(self.params0)

        def of_example(example):  # each example is differentiated alone: no other enters its outputs
            one = jax.tree.map(lambda array: array[None], example)
            return jax.jacrev(lambda params: as_vector(rows(self.fn(unravel(params), one), 0)))(params0)

        return jax.vmap(of_example)(x).reshape(-1, params0.size)


class Network(eqx.Module):
    """A network as it is, where a linearised one is expected."""

    fn: Callable

    def on(self, x: PyTree[Array]) -> Predict:
        """Fix the inputs: θ ↦ f(θ, x)."""
        return lambda params: self.fn(params, x)

    def with_state(self, x: PyTree[Array]) -> Forward:
        """The same with the network's state after the inputs."""
        fn = cast("Functional", self.fn)
        return lambda params: fn.with_state(params, x)

    def __call__(self, params: PyTree[Array], x: PyTree[Array]) -> PyTree[Float[Array, "n ..."]]:
        """f(θ, x)."""
        return self.fn(params, x)


def recomputed(model: Any, x: PyTree[Array]) -> Predict:
    """θ ↦ outputs, where every call computes all of it again, and memory holds one chunk alone."""

    def again(params):
        return jax.checkpoint(lambda x: model.on(x)(params))

    return lambda params: in_chunks(again(params), x)


def stateless(predict: Predict) -> Forward:
    """θ ↦ outputs, and no state."""
    return lambda params: (predict(params), None)


def as_vector(outputs: PyTree[Array]) -> Float[Array, " out"]:
    """The outputs for one example as one vector."""
    leaves = [leaf.ravel() for leaf in jax.tree.leaves(outputs)]
    return leaves[0] if len(leaves) == 1 else jnp.concatenate(leaves)


def require_alone(fn: Callable) -> None:
    """**Raises**: `ValueError` if examples meet in the network: a kernel takes the outputs for each one by itself."""
    if isinstance(fn, ByBatch):
        raise ValueError(
            "the examples of a BatchModel meet in its batch, and a kernel takes each of them by itself: use the "
            "`linearised.fn` of a record, in which they do not meet, or a solver that needs no kernel"
        )


class ByExample(eqx.Module):
    """A module of one example with its parameters taken out.

    Modules of one architecture are equal, so they share compiled programs.

    It maps one example, so a batch may be cut anywhere: into blocks of `block_bytes`, which stay in the cache of a
    processor from the first layer to the last, or not at all.
    """

    random: ClassVar[bool] = False

    rest: Any
    block_bytes: int | None = eqx.field(static=True)

    def with_state(self, params, x):
        """The outputs, and no state."""
        return self(params, x), None

    def at(self, params0, x, state, key, first):
        """The function of a step."""
        return self

    def recorded(self, x, state):
        """The function of a record."""
        return self

    def whole(self, params, x):
        """All examples at once."""
        return jax.vmap(eqx.combine(params, self.rest))(x)

    def __call__(self, params, x):
        if self.block_bytes is None:
            return self.whole(params, x)
        kept = residual_bytes(self.whole, params, x)
        return in_blocks(partial(self.whole, params), x, self.block_bytes * num_examples(x) // max(1, kept))


Functional = ByExample | ByBatch


def residual_bytes(fn: Callable, params: PyTree[Array], x: PyTree[Array]) -> int:
    """What the derivative of θ ↦ f(θ, x) keeps in memory, the parameters that it needs included."""
    return num_bytes(eqx.filter_eval_shape(_derivative, fn, params, x))


@eqx.filter_jit  # never run: so that what is asked again is not traced again
def _derivative(fn, params, x):
    return jax.vjp(lambda params: fn(params, x), params)[1]


def block_size(threads: int = 1) -> int | None:
    """The bytes of a block that are fast where jax computes: half a mebibyte a thread on a CPU; no blocks elsewhere."""
    return threads * CACHE if jax.default_backend() == "cpu" else None


def functional(
    model: Any, trainable: Trainable = eqx.is_inexact_array, *, block_bytes: int | None = None
) -> tuple[PyTree[Array], Functional]:
    """An equinox module as its parameters θ and the function f(θ, x) on a batch of inputs.

    The module maps one example, or is a `BatchModel`, whose function has neither state nor key until a step gives them.

    **Arguments**: `trainable` says which leaves are parameters, as `eqx.partition` takes it: a function of a leaf, or a
    tree of booleans. By default every array of floating-point numbers is one, also a constant or a running mean.
    `block_bytes` is what the derivatives of a block of examples keep. By default it is half a mebibyte where jax
    computes on a CPU, and all examples are one block elsewhere.

    **Raises**: `ValueError` if a parameter is complex.
    """
    params, rest = eqx.partition(model, trainable)
    require_real(params)
    params = jax.tree.map(jnp.asarray, params)
    if isinstance(model, BatchModel):
        return params, ByBatch(rest)
    return params, ByExample(rest, block_size() if block_bytes is None else block_bytes)
