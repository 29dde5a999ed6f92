"""What the dual form of a lazy phase costs beside the phase on the parameters, by arithmetic."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jaxtyping import Array, PyTree

from iterlin._exact_kernel import exact_kernel_size
from iterlin._kernels import Factors
from iterlin._linearise import Trainable, functional

# Operations, and bytes from memory, a second of one thread of a processor, measured part by part (docs/benchmarks.md).
# They are constants, so that no choice depends on what else a machine does; another processor has other numbers, and
# nearly the same ratios.
NETWORK = 1.4e11  # of a network's derivatives, times the bytes of a number: 3.5e10 in float32, half as many in float64
PRODUCT = 4e10  # of large matrix products and of a factorisation with pivots, in float64
MEMORY = 2e10
PASSES = 3  # an evaluation takes so many times the operations of f: φv, and φᵀu in the parameters and in the features


class DualCost(NamedTuple):
    """Seconds of a thread, of which only the ratios matter; and the bytes for the Jacobian and for Θ.

    `evaluation` is one on the parameters, and `start` the kernel and its factorisation, once a phase.
    """

    evaluation: float
    start: float
    dual_evaluation: float
    num_bytes: int

    @property
    def break_even(self) -> float:
        """From how many evaluations of the gradient on a phase costs less in its dual; infinite if it never does."""
        gain = self.evaluation - self.dual_evaluation
        return self.start / gain if gain > 0 else math.inf


def dual_cost(
    model: Any, x: PyTree[Any], *, batch_size: int | None = None, trainable: Trainable = eqx.is_inexact_array
) -> DualCost:
    """The cost of phases on the inputs x, of which shapes matter alone, by counted operations and traffic: see `Dual`.

    `batch_size` is that of the steps, and None for full batches. All numbers are of a processor.

    **Raises**: `ValueError` for a model that maps no example by itself.
    """
    params, fn = functional(model, trainable)
    size = exact_kernel_size(fn, params, x)
    n, m, p = size.num_examples, size.num_outputs, optax.tree.size(params)
    out, rank, batch = m // n, min(m, p), batch_size or n
    itemsize = size.factors[0].gradients.dtype.itemsize
    forward = _forward(fn, params, size.example, itemsize)
    products = sum(_operations(each, n) for each in size.factors)
    factorisation = rank**2 * (m - 2 * rank / 3)
    return DualCost(
        evaluation=PASSES * batch * forward,
        start=(1 + 2 * out) * n * forward + (products + factorisation) / PRODUCT,
        dual_evaluation=2 * batch * out * rank * itemsize / MEMORY,
        num_bytes=size.num_bytes,
    )


def _forward(fn: Callable, params: PyTree[Array], example: PyTree[Any], itemsize: int) -> float:
    """Seconds for f on one example of many: its arithmetic or its traffic, whichever takes longer.

    A narrow convolution waits for memory. θ is read once for all examples. Where jax counts nothing, the dual never
    gains.
    """
    counted = jax.jit(lambda params, x: fn(params, x)).lower(params, example).cost_analysis() or {}
    traffic = counted.get("bytes accessed", 0.0) - optax.tree.size(params) * itemsize
    return max(counted.get("flops", 0.0) * itemsize / NETWORK, traffic / MEMORY)


def _operations(example: Factors, n: int) -> float:
    """Of one leaf's share of Θ: half of the product where φ_l is there, and all of it where its factors are."""
    _, out, q = example.gradients.shape
    whole = 2 * (n * out) ** 2 * q
    return whole / 2 if example.vectors is None else whole + 2 * n**2 * example.vectors.shape[1]
