"""The kernels of the two-layer network as N → ∞, with γ = 1/√N and w ~ N(0, I/d) (L §1.2)."""

import math
from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss

from iterlin.two_layer.networks import Activation, derivative

RADIUS = 8.5  # the Gaussian beyond it is below the rounding of float64
RADIAL, ANGULAR = 80, 48  # nodes: along a ray, and in each of four sectors; enough for inputs of norm up to 2√d
DEGREE = 48  # of the polynomial in the angle

Limit = Callable[[Activation, Array, Array], Array]


@eqx.filter_jit
def rf_limit(activation: Activation, x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """K^RF(x₁, x₂) = E_w σ(⟨w, x₁⟩) σ(⟨w, x₂⟩).

    For `jax.nn.relu` it is |x₁||x₂|/(2πd) (sin θ + (π − θ) cos θ), the arc-cosine kernel of degree one (Cho and Saul
    2009, eq. 6) over 2d. Other activations are integrated (`_expectation`).
    """
    if activation is jax.nn.relu:
        angle, norms = _angles(x, x2), jnp.outer(_norms(x), _norms(x2))
        return norms * (jnp.sin(angle) + (math.pi - angle) * jnp.cos(angle)) / (2 * math.pi)
    return _expectation(activation, x, x2)


@eqx.filter_jit
def nt_limit(activation: Activation, x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """K^NT(x₁, x₂) = ⟨x₁, x₂⟩/d E_w σ'(⟨w, x₁⟩) σ'(⟨w, x₂⟩).

    For `jax.nn.relu` the expectation is (π − θ)/(2π), the arc-cosine kernel of degree zero over 2. Other activations
    are integrated (`_expectation`).
    """
    if activation is jax.nn.relu:
        slopes = (math.pi - _angles(x, x2)) / (2 * math.pi)
    else:
        slopes = _expectation(derivative(activation), x, x2)
    return slopes * (x @ x2.T) / x.shape[1]


def on_sphere(limit: Limit, activation: Activation) -> Callable[[Array, Array], Array]:
    """A limit for inputs of norm √d, where it depends on the angle alone: as a polynomial in it, of degree `DEGREE`.

    It interpolates the limit in Chebyshev's points, so that an entry of a kernel matrix costs no integral.
    """
    nodes = math.pi / 2 * (1 + np.cos(math.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)))
    circle = math.sqrt(2) * jnp.stack([jnp.cos(nodes), jnp.sin(nodes)], axis=1)
    values = limit(activation, math.sqrt(2) * jnp.array([[1.0, 0.0]]), circle)[0]
    series = chebyshev.chebfit(2 * nodes / math.pi - 1, np.asarray(values), DEGREE)
    return jax.jit(lambda x, x2: chebyshev.chebval(2 * _angles(x, x2) / math.pi - 1, series))


@jax.jit
def whitened_error(kernel: Float[Array, "n n"], limit: Float[Array, "n n"]) -> Float[Array, ""]:
    """‖K^{−1/2} K_N K^{−1/2} − I‖_op, with K the limit (L theorem 2).

    With K = CCᵀ it is computed from C⁻¹ K_N C⁻ᵀ, which has the same eigenvalues. It is NaN where the limit is not
    positive definite to rounding.
    """
    factor = jnp.linalg.cholesky(limit)
    half = solve_triangular(factor, kernel, lower=True)
    eigenvalues = jnp.linalg.eigvalsh(solve_triangular(factor, half.T, lower=True))
    return jnp.max(jnp.abs(eigenvalues - 1))


def _expectation(g: Activation, x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """E_w g(⟨w, x₁⟩) g(⟨w, x₂⟩), by Gauss and Legendre's rule in polar coordinates.

    The two products are |x₁|/√d r cos φ and |x₂|/√d r cos(φ − θ), with (r, φ) the polar coordinates of a standard
    Gaussian in the plane of x₁ and x₂. The angle is split where either changes its sign, so g may have a kink or a jump
    at zero; elsewhere it must be smooth.
    """
    radii, radial = _legendre(RADIAL, 0.0, RADIUS)
    radial = radial * radii * jnp.exp(-(radii**2) / 2) / (2 * math.pi)

    def entry(norm, norm2, angle):
        edges = jnp.array([-math.pi / 2, angle - math.pi / 2, math.pi / 2, angle + math.pi / 2, 3 * math.pi / 2])
        phi, angular = jax.vmap(partial(_legendre, ANGULAR))(edges[:-1], edges[1:])
        first = g(norm * jnp.multiply.outer(radii, jnp.cos(phi)))
        second = g(norm2 * jnp.multiply.outer(radii, jnp.cos(phi - angle)))
        return jnp.einsum("rsa,rsa,r,sa->", first, second, radial, angular)

    row = jax.vmap(entry, in_axes=(None, 0, 0))
    return jax.lax.map(lambda one: row(one[0], _norms(x2), one[1]), (_norms(x), _angles(x, x2)))


def _legendre(number: int, low, high):
    """Nodes and weights between two ends."""
    nodes, weights = leggauss(number)
    half = (high - low) / 2
    return low + half * (1 + nodes), half * weights


def _norms(x: Float[Array, "n d"]) -> Float[Array, " n"]:
    """|x|/√d, the standard deviation of ⟨w, x⟩."""
    return jnp.linalg.norm(x, axis=1) / math.sqrt(x.shape[1])


def _angles(x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """θ = ∠(x₁, x₂), to rounding also near 0 and π, where the arc cosine loses half of the digits (Kahan)."""
    u, v = x / jnp.linalg.norm(x, axis=1, keepdims=True), x2 / jnp.linalg.norm(x2, axis=1, keepdims=True)

    norm = jnp.linalg.norm

    def row(one):
        return 2 * jnp.arctan2(norm(one[None] - v, axis=1), norm(one[None] + v, axis=1))

    return jax.lax.map(row, u)
