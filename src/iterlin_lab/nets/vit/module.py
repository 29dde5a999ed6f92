"""NET-VIT, a vision transformer (Dosovitskiy et al. 2021) with blocks that normalise first, and a mean over tokens."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

Tokens = Float[Array, "tokens width"]


class Block(eqx.Module):
    """x + attention(norm(x)), then x + MLP(norm(x)).

    Each norm is without a scale and a shift of its own: linear layers follow, which can have both in their weights.
    """

    norm: eqx.nn.LayerNorm
    attention: eqx.nn.MultiheadAttention
    rise: eqx.nn.Linear
    fall: eqx.nn.Linear

    def __init__(self, width: int, heads: int, hidden: int, *, key: Array):
        keys = jax.random.split(key, 3)
        biases = {f"use_{name}_bias": True for name in ("query", "key", "value", "output")}
        attention = eqx.nn.MultiheadAttention(heads, width, **biases, key=keys[0])
        self.attention = eqx.tree_at(lambda attention: attention.dropout, attention, None)  # it draws nothing
        self.norm = _norm(width)
        self.rise = eqx.nn.Linear(width, hidden, key=keys[1])
        self.fall = eqx.nn.Linear(hidden, width, key=keys[2])

    def __call__(self, x: Tokens) -> Tokens:
        normed = jax.vmap(self.norm)(x)
        x = x + self.attention(normed, normed, normed)
        return x + jax.vmap(self._mlp)(x)

    def _mlp(self, token: Float[Array, " width"]) -> Float[Array, " width"]:
        return self.fall(jax.nn.gelu(self.rise(self.norm(token))))


class ViT(eqx.Module):
    """Squares of an image are tokens: each is embedded, with its position, and goes through the blocks.

    The class is read from the mean of the tokens that leave the last one. The embedding of positions is a linear layer
    of the number of the square, one-hot.

    **Raises**: `ValueError` if squares of this size do not cover the images.
    """

    patches: eqx.nn.Linear
    positions: eqx.nn.Linear
    blocks: tuple[Block, ...]
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear
    patch: int = eqx.field(static=True)

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        num_classes: int,
        *,
        patch: int = 4,
        width: int = 64,
        heads: int = 4,
        hidden: int = 128,
        depth: int = 2,
        key: Array,
    ):
        height, across, channels = input_shape
        if height % patch or across % patch:
            raise ValueError(
                f"patches of {patch}×{patch} do not cover images of {height}×{across}: take a patch that divides both"
            )
        keys = jax.random.split(key, 3 + depth)
        self.patches = eqx.nn.Linear(patch * patch * channels, width, key=keys[0])
        self.positions = eqx.nn.Linear((height // patch) * (across // patch), width, use_bias=False, key=keys[1])
        self.blocks = tuple(Block(width, heads, hidden, key=key) for key in keys[3:])
        self.norm = _norm(width)
        self.head = eqx.nn.Linear(width, num_classes, key=keys[2])
        self.patch = patch

    @property
    def filters(self) -> Float[Array, "patch patch channels width"]:
        """The weights of the embedding, a filter each of its outputs."""
        return self.patches.weight.T.reshape(self.patch, self.patch, -1, self.patches.out_features)

    @property
    def parts(self) -> tuple[PyTree[Array], ...]:
        """The parameters of the embedding, of the first block and of the rest."""
        return (self.patches, self.positions), self.blocks[0], (self.blocks[1:], self.head)

    def activations(self, x: Float[Array, "height across channels"]) -> list[Tokens]:
        """The tokens that leave the embedding and the first block."""
        tokens = self._embedded(x)
        return [tokens, self.blocks[0](tokens)]

    def __call__(self, x: Float[Array, "height across channels"]) -> Float[Array, " classes"]:
        tokens = self._embedded(x)
        for block in self.blocks:
            tokens = block(tokens)
        return self.head(jnp.mean(jax.vmap(self.norm)(tokens), axis=0))

    def _embedded(self, x: Float[Array, "height across channels"]) -> Tokens:
        rows, columns = (size // self.patch for size in x.shape[:2])
        squares = x.reshape(rows, self.patch, columns, self.patch, -1).swapaxes(1, 2)
        return jax.vmap(self.patches)(squares.reshape(rows * columns, -1)) + self.positions.weight.T


def _norm(width: int) -> eqx.nn.LayerNorm:
    return eqx.nn.LayerNorm(width, use_weight=False, use_bias=False)


MODULE = ViT
