"""Losses, each the mean over n examples. They act on outputs and stay outside the linearisation (T App. A).

The mean makes η independent of n. A source that sums over the data (W's learning rates fit a sum) has η_sum = η/n and
λ_sum = n·λ.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

Loss = Callable[[Array, Array], Float[Array, ""]]


def cross_entropy(logits: Float[Array, "n *places out"], labels: Int[Array, " n *places"]) -> Float[Array, ""]:
    """Softmax and cross-entropy in nats: neither is ever linearised. It is a mean over the places of sequences too."""
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def squared_error(outputs: Float[Array, " n *out"], targets: Float[Array, " n *out"]) -> Float[Array, ""]:
    """½‖f − y‖² per example (T §2.2, footnote 1): its derivative in f is the residual r = f − y, over n."""
    return 0.5 * jnp.sum(jnp.square(outputs - targets), axis=tuple(range(1, outputs.ndim))).mean()


def is_squared_error(loss: Loss) -> bool:
    """Whether a loss is `squared_error`, perhaps in a wrapper: the two agree at outputs drawn at random."""
    draws = np.random.default_rng(0).normal(size=(2, 3, 4))  # outputs and targets of 3 examples
    with jax.ensure_compile_time_eval():
        outputs, targets = (jnp.asarray(draw, float) for draw in draws)
        try:
            value = np.asarray(loss(outputs, targets))
        except Exception:  # a loss of class labels fails in ways of its own
            return False
        return value.shape == () and bool(np.isclose(value, squared_error(outputs, targets), rtol=1e-4))


def accuracy(logits: Float[Array, "n *places out"], labels: Int[Array, " n *places"]) -> Float[Array, ""]:
    """The share of labels at which the largest logit is."""
    return jnp.mean(jnp.argmax(logits, axis=-1) == labels, dtype=logits.dtype)
