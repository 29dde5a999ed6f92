"""A model whose outputs are scaled about their start: the output scale of lazy training."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Rescaled(eqx.Module):
    """α(f(θ, x) − f(θ₀, x)) in place of f(θ, x), a model of one example; θ₀ is where training starts.

    A larger α trains lazily: the outputs change as much while θ moves less, and so the kernel moves less (Chizat et al.
    2019). α is 1/γ of two-layer networks in the mean-field limit. The empirical NTK is α² times that of `model`, so
    gradient descent with η/α² takes as many steps for the same change of the outputs.

    Train `model` alone, for θ₀ stays: `trainable=only(rescaled, lambda rescaled: rescaled.model)`.

    **Arguments**: `model` has the parameters θ₀ when it is given; `scale` is α.

    **Raises**: `ValueError` for a scale that is not positive and finite.
    """

    model: Any
    initial: Any
    scale: Float[Array, ""]

    def __init__(self, model: Any, scale: float):
        if not 0 < scale < float("inf"):
            raise ValueError(f"the output scale α must be positive and finite, got {scale}")
        self.model = self.initial = model
        self.scale = jnp.asarray(scale, float)

    def __call__(self, x: Any) -> Any:
        """The scaled outputs for one example."""
        return jax.tree.map(
            lambda now, start: self.scale.astype(now.dtype) * (now - start), self.model(x), self.initial(x)
        )
