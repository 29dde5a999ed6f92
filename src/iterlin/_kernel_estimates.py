"""Estimates of the trace, the norm and the similarity of empirical NTKs that are too large to store."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._linearise import require_real

Outputs = PyTree[Float[Array, "n ..."]]


class Estimate(NamedTuple):
    """An estimate from random probes, and its standard error."""

    value: Float[Array, ""]
    error: Float[Array, ""]


class Features(NamedTuple):
    """The Jacobian φ of the outputs for x at θ, of shape (n·out, p), as products; and outputs to shape probes like."""

    outputs: Outputs
    times: Callable[[PyTree[Array]], Outputs]  # v ↦ φv
    transposed: Callable[[Outputs], PyTree[Array]]  # u ↦ φᵀu

    def kernel(self, u: Outputs) -> Outputs:
        """Θu = φφᵀu."""
        return self.times(self.transposed(u))


def features(fn: Callable, params: PyTree[Array], x: PyTree[Array]) -> Features:
    """φ at θ. What its products need of the network is computed here, once.

    **Raises**: `ValueError` if a parameter is complex.
    """
    require_real(params)
    outputs, jvp = jax.linearize(lambda p: fn(p, x), params)
    transpose = jax.linear_transpose(jvp, params)
    return Features(outputs, jvp, lambda u: transpose(u)[0])


def kernel_trace(fn: Callable, params: PyTree[Array], x: PyTree[Array], key: Array, num_probes: int = 100) -> Estimate:
    """tr Θ = E uᵀΘu = E‖φᵀu‖² over vectors u of random signs (Hutchinson 1990), with Θ = φφᵀ as in `empirical_ntk`.

    The variance of one probe is 2(‖Θ‖_F² − Σᵢ Θᵢᵢ²): a diagonal kernel has its exact trace.

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out), or to a tree of such arrays; `key`
    draws the `num_probes` vectors. Each costs a reverse pass, and memory is that of a gradient on all of x.

    **Raises**: `ValueError` for fewer than two probes, or if a parameter is complex.
    """
    phi = features(fn, params, x)
    return _mean(_over_probes(lambda u: _square(phi.transposed(u)), phi.outputs, key, num_probes))


def kernel_norm(fn: Callable, params: PyTree[Array], x: PyTree[Array], key: Array, num_probes: int = 100) -> Estimate:
    """‖Θ‖_F = (E‖Θu‖²)^½ over vectors u of random signs, with the arguments and errors of `kernel_trace`.

    The square is estimated without bias, and its standard error σ is that of the root as σ/(2‖Θ‖_F) (delta method). A
    probe costs a reverse and a forward pass.
    """
    phi = features(fn, params, x)
    squares = _over_probes(lambda u: _square(phi.kernel(u)), phi.outputs, key, num_probes)
    norm = jnp.sqrt(jnp.mean(squares))
    return Estimate(norm, norm * _mean(squares / jnp.mean(squares)).error / 2)  # no squares of squares: no overflow


def kernel_cosine(
    fn: Callable, params: PyTree[Array], other: PyTree[Array], x: PyTree[Array], key: Array, num_probes: int = 100
) -> Estimate:
    """⟨Θ, Θ'⟩_F/(‖Θ‖_F ‖Θ'‖_F), the alignment of the kernels on x at θ and at θ' = `other`, not centred.

    Its distance from 1 is the kernel distance of Fort et al. (2020). All three moments, ⟨Θ, Θ'⟩_F = E⟨Θu, Θ'u⟩ and the
    two norms, come from the same vectors u of random signs. So most of what they are off by cancels: a kernel and its
    multiples have the cosine 1 with the error 0. It is NaN if a kernel is zero. Arguments and errors are those of
    `kernel_trace`, and a probe costs two reverse and two forward passes.
    """
    phi, other_phi = features(fn, params, x), features(fn, other, x)
    return cosine_of(*_over_probes(lambda u: moments(phi, other_phi, u), phi.outputs, key, num_probes))


def moments(phi: Features, other: Features, u: Outputs) -> tuple[Float[Array, ""], ...]:
    """⟨Θu, Θ'u⟩, ‖Θu‖² and ‖Θ'u‖² of one probe."""
    image, other_image = phi.kernel(u), other.kernel(u)
    return _inner(image, other_image), _square(image), _square(other_image)


def cosine_of(products: Float[Array, " m"], squares: Float[Array, " m"], others: Float[Array, " m"]) -> Estimate:
    """R = ā/√(b̄c̄) from m samples of each moment, with the standard error of its linear part in them (delta method).

    A sample moves R by aᵢ/√(b̄c̄) − R(bᵢ/b̄ + cᵢ/c̄)/2, which is zero on average.
    """
    square, other = jnp.mean(squares), jnp.mean(others)
    scale = jnp.sqrt(square / other)  # no square of squares here either
    shares = products / square * scale
    value = jnp.mean(products) / square * scale
    influences = shares - value * (squares / square + others / other) / 2
    return Estimate(value, _mean(influences).error)


def _inner(tree: PyTree[Array], other: PyTree[Array]) -> Float[Array, ""]:
    return jnp.asarray(optax.tree.vdot(tree, other))


def _square(tree: PyTree[Array]) -> Float[Array, ""]:
    return _inner(tree, tree)


def _mean(samples: Float[Array, " m"]) -> Estimate:
    """The mean, and its standard error."""
    return Estimate(jnp.mean(samples), jnp.std(samples, ddof=1) / len(samples) ** 0.5)


def _over_probes(sample: Callable, like: Outputs, key: Array, num_probes: int) -> PyTree[Float[Array, " m"]]:
    """A function of vectors of random signs, shaped like outputs: one after another, so that memory holds one."""
    if num_probes < 2:
        raise ValueError(f"num_probes must be at least 2, which a standard error takes, got {num_probes}")

    def of_key(key):
        return sample(optax.tree.random_like(key, like, jax.random.rademacher))

    return jax.lax.map(of_key, jax.random.split(key, num_probes))
