"""Augmentations of images, by the names that params.yaml uses: on the device, from a key, with static shapes."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

Images = Float[Array, "n height width channels"]


def crops(key: Array, images: Images, pad: int) -> Images:
    """Each image shifted by up to `pad` pixels in either direction: a crop of it, padded with its own border."""
    n, height, width, _ = images.shape
    padded = jnp.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)), mode="edge")
    corners = jax.random.randint(key, (n, 2), 0, 2 * pad + 1)

    def crop(image: Array, corner: Int[Array, " 2"]) -> Array:
        return jax.lax.dynamic_slice(image, (*corner, 0), (height, width, image.shape[2]))

    return jax.vmap(crop)(padded, corners)


def flips(key: Array, images: Images) -> Images:
    """Each image, mirrored left to right or not."""
    mirrored = jax.random.bernoulli(key, shape=(len(images), 1, 1, 1))
    return jnp.where(mirrored, images[:, :, ::-1], images)


def flips_and_crops(key: Array, images: Images) -> Images:
    """T fig. 2, for classes that mirroring does not change, on images of 32×32: crops of up to 4 pixels."""
    crop_key, flip_key = jax.random.split(key)
    return flips(flip_key, crops(crop_key, images, pad=4))


AUGMENTATIONS = {"flips_and_crops": flips_and_crops, "shifts": partial(crops, pad=1)}
