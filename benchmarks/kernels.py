"""The empirical kernel of a network in float32, as one compiled program: by structure, by Jacobian, and by a peer."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.jax_steps import network
from benchmarks.problems import NotInstalled, Problem
from iterlin._kernels import BATCH, gram

PEER = "NEURAL_TANGENTS"  # the Python of an environment that has it
ONE_THREAD = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
AGREED = 1e-5  # of the largest entry: more is no rounding in float32


def by_structure(problem: Problem) -> Callable[[], None]:
    """The package's: dense layers by their structure, convolutions by their Jacobians."""
    params, fn, x, _ = network(problem)
    run = jax.jit(partial(gram, fn))
    return lambda: jax.block_until_ready(run(params, x))


def by_jacobian(problem: Problem) -> Callable[[], None]:
    """φφᵀ from the whole of φ."""
    params, fn, x, _ = network(problem)

    def of_one(x: jax.Array) -> jax.Array:
        leaves = jax.tree.leaves(jax.jacrev(lambda params: fn(params, x[None])[0])(params))
        return jnp.concatenate([leaf.reshape(len(leaf), -1) for leaf in leaves], axis=1)

    def kernel(x: jax.Array) -> jax.Array:
        phi = jax.lax.map(of_one, x, batch_size=BATCH)
        phi = phi.reshape(-1, phi.shape[-1])
        return jnp.matmul(phi, phi.T, precision="highest")

    run = jax.jit(kernel)
    return lambda: jax.block_until_ready(run(x))


def tangents(implementation: str) -> Callable[[Problem], Callable[[], None]]:
    """That of neural-tangents by one of its implementations, for the same images and parameters.

    **Raises**: `NotInstalled` without an environment that has it, `ValueError` if it computes another kernel.
    """

    def build(problem: Problem) -> Callable[[], None]:
        if PEER not in os.environ:
            raise NotInstalled
        params, fn, x, _ = network(problem)
        with tempfile.TemporaryDirectory() as folder:
            images, kernel = Path(folder, "problem.npz"), Path(folder, "kernel.npy")
            layers = (*params.convolutions, *params.dense)
            arrays = (leaf for layer in layers for leaf in (layer.weight, layer.bias))
            np.savez(images, x, *arrays, allow_pickle=False)
            script = Path(__file__).with_name("tangents.py")
            env = os.environ | (ONE_THREAD if os.environ["NPROC"] == "1" else {})
            command = [os.environ[PEER], script, images, kernel, implementation]
            peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            _wait(peer)
            _require_same(np.load(kernel, allow_pickle=False), np.asarray(gram(fn, params, x)))

        def run() -> None:
            print(file=peer.stdin, flush=True)
            _wait(peer)

        return run

    return build


def _wait(peer: subprocess.Popen[str]) -> None:
    assert peer.stdout is not None
    if peer.stdout.readline() != "done\n":
        peer.communicate()  # it ends, and has said why
        raise ValueError(f"the Python of {PEER} could not compute the kernel")


def _require_same(found: np.ndarray, ours: np.ndarray) -> None:
    found = found.transpose(0, 2, 1, 3).reshape(ours.shape)
    if (difference := np.abs(found - ours).max() / np.abs(ours).max()) > AGREED:
        raise ValueError(f"neural-tangents has another kernel: {difference:.1g} of its largest entry apart")
