"""How far features have moved: measures on kernels over the same examples, which no scale of a kernel enters."""

import jax.numpy as jnp
from jaxtyping import Array, Float

Kernel = Float[Array, "n n"]


def cosine(a: Float[Array, "..."], b: Float[Array, "..."]) -> Float[Array, ""]:
    """The cosine of the angle between two arrays of one shape; NaN if one of them is zero."""
    return jnp.sum(a * b) / (jnp.linalg.norm(a.ravel()) * jnp.linalg.norm(b.ravel()))


def kernel_distance(kernel: Kernel, other: Kernel) -> Float[Array, ""]:
    """1 − ⟨Θ, Θ'⟩/(‖Θ‖‖Θ'‖) (Fort et al. 2020): 0 for multiples of each other, at most 1 for kernels."""
    return 1 - cosine(kernel, other)


def centred(kernel: Kernel) -> Kernel:
    """HΘH with H = I − 1/n: the kernel of features that have mean zero over the examples."""
    rows = kernel - jnp.mean(kernel, axis=0, keepdims=True)
    return rows - jnp.mean(rows, axis=1, keepdims=True)


def kernel_alignment(kernel: Kernel, other: Kernel) -> Float[Array, ""]:
    """The cosine of the angle between the centred kernels (Cortes, Mohri and Rostamizadeh 2012), between 0 and 1.

    NaN if a kernel tells no two examples apart.
    """
    return cosine(centred(kernel), centred(other))


def linear_cka(x: Float[Array, "n p"], y: Float[Array, "n q"]) -> Float[Array, ""]:
    """The alignment of the kernels xxᵀ and yyᵀ (Kornblith et al. 2019). Orthogonal maps of x leave it as it is."""
    return kernel_alignment(jnp.matmul(x, x.T, precision="highest"), jnp.matmul(y, y.T, precision="highest"))
