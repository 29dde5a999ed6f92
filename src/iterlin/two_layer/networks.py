"""The two-layer network of the lecture, and the maps and kernels of its first-order expansion (L §1.1 and §1.2)."""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Activation = Callable[[Array], Array]


class TwoLayer(eqx.Module):
    """f_θ(x) = γ Σᵢ aᵢ σ(⟨wᵢ, x⟩), with θᵢ = (aᵢ, wᵢ) as its only parameters (L §1).

    It maps inputs (..., d) to outputs (..., 1): one example, or any batch of them.
    """

    outputs: Float[Array, " N"]
    weights: Float[Array, "N d"]
    scale: float = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __call__(self, x: Float[Array, "... d"]) -> Float[Array, "... 1"]:
        return self.scale * (self.activation(x @ self.weights.T) @ self.outputs)[..., None]


@eqx.filter_jit
def two_layer(
    width: int, dimension: int, scale: float, activation: Activation, key: Array, *, antisymmetric: bool = True
) -> TwoLayer:
    """A network with aᵢ = ±1 and wᵢ ~ N(0, I/d), of `width` N, on inputs of `dimension` d, with γ = `scale`.

    In antisymmetric pairs, (1, w) and (−1, w), it starts at f = 0 with N/2 independent weights; otherwise all weights
    are independent, and the signs are fair coins.

    **Raises**: `ValueError` for antisymmetric pairs of an odd number of neurons.
    """
    if antisymmetric and width % 2:
        raise ValueError(f"antisymmetric pairs need an even width, not {width}")
    of_weights, of_signs = jax.random.split(key)
    if antisymmetric:
        signs = jnp.repeat(jnp.array([1.0, -1.0]), width // 2)
        weights = jnp.tile(jax.random.normal(of_weights, (width // 2, dimension)), (2, 1))
    else:
        signs = jax.random.rademacher(of_signs, (width,), float)
        weights = jax.random.normal(of_weights, (width, dimension))
    return TwoLayer(signs, weights / math.sqrt(dimension), scale, activation)


def rf_features(model: TwoLayer, x: Float[Array, "n d"]) -> Float[Array, "n N"]:
    """φ_RF(x) = γ (σ(⟨wᵢ, x⟩))ᵢ, the derivative of f in the outputs a (L §1.1)."""
    return model.scale * model.activation(x @ model.weights.T)


def nt_features(model: TwoLayer, x: Float[Array, "n d"]) -> Float[Array, "n Nd"]:
    """φ_NT(x) = γ/√d (aᵢ σ'(⟨wᵢ, x⟩) xᵀ)ᵢ, the derivative of f in the weights W, divided by √d (L §1.1)."""
    return jnp.einsum("nN,nd->nNd", _slopes(model, x), x).reshape(len(x), -1)


@eqx.filter_jit
def rf_kernel(model: TwoLayer, x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """K_N^RF = γ² Σᵢ σ(⟨wᵢ, x₁⟩) σ(⟨wᵢ, x₂⟩) (L §1.2)."""
    return rf_features(model, x) @ rf_features(model, x2).T


@eqx.filter_jit
def nt_kernel(model: TwoLayer, x: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """K_N^NT = γ²/d Σᵢ aᵢ² ⟨x₁, x₂⟩ σ'(⟨wᵢ, x₁⟩) σ'(⟨wᵢ, x₂⟩), without φ_NT (L §1.2, which drops aᵢ²: it is one)."""
    return (x @ x2.T) * (_slopes(model, x) @ _slopes(model, x2).T)


def derivative(activation: Activation) -> Activation:
    """σ', elementwise."""
    return lambda z: jax.jvp(activation, (z,), (jnp.ones_like(z),))[1]


def _slopes(model: TwoLayer, x: Float[Array, "n d"]) -> Float[Array, "n N"]:
    """γ/√d aᵢ σ'(⟨wᵢ, x⟩)."""
    factor = model.scale / math.sqrt(model.weights.shape[1])
    return factor * model.outputs[None] * derivative(model.activation)(x @ model.weights.T)
