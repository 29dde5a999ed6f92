"""The kernel of a LeNet by neural-tangents, whose last version needs jax of 2023, and so an environment of its own.

`python tangents.py PROBLEM KERNEL NAME` reads images and layers, writes their kernel by the implementation with that
name, and says `done`. Then it computes the kernel again for each line that it reads. It imports nothing of iterlin.
"""

import sys

import jax
import neural_tangents as nt  # pyright: ignore[reportMissingImports]
import numpy as np


def main() -> None:
    """Compile once, and compute whenever asked."""
    problem, kernel, name = sys.argv[1:]
    x, *arrays = np.load(problem, allow_pickle=False).values()
    layers = [*zip(arrays[::2], arrays[1::2], strict=True)]
    ntk = nt.empirical_ntk_fn(network, (), vmap_axes=0, implementation=nt.NtkImplementation[name])
    compiled = jax.jit(lambda x, layers: ntk(x, None, layers))
    np.save(kernel, compiled(x, layers), allow_pickle=False)
    print("done", flush=True)
    for _ in sys.stdin:
        jax.block_until_ready(compiled(x, layers))
        print("done", flush=True)


def network(layers: list[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
    """Two convolutions with max-pooling and ReLU, then dense layers."""
    for weight, bias in layers[:2]:
        x = jax.lax.conv_general_dilated(x, weight, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias
        x = jax.nn.relu(jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))
    x = x.reshape(len(x), -1)
    for weight, bias in layers[2:-1]:
        x = jax.nn.relu(x @ weight.T + bias)
    weight, bias = layers[-1]
    return x @ weight.T + bias


if __name__ == "__main__":
    main()
