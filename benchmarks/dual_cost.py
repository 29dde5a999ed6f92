"""What `iterlin.dual_cost` counts, beside what it takes: `NPROC=1 OMP_NUM_THREADS=1 python -m benchmarks.dual_cost`."""

import argparse
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.__main__ import lines, markdown
from benchmarks.problems import DUAL, LARGE_DUAL, Problem
from iterlin import cross_entropy, dual_cost, functional
from iterlin._coordinates import coordinates

HEADER = ["", "evaluation, s", "as counted", "start, s", "as counted", "break-even", "as counted"]
BUDGET = 2**34  # bytes for the Jacobian and the kernel


def main() -> None:
    """Print one table, in seconds of a processor."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dual_cost", description=__doc__)
    parser.add_argument("--large", action="store_true", help="the problems of the group `large dual` too")
    jax.config.update("jax_enable_x64", True)
    problems = DUAL + LARGE_DUAL if parser.parse_args().large else DUAL
    print(markdown([], HEADER), flush=True)
    for problem in problems:
        for precision in (np.float32, np.float64):
            print(lines([row(problem, precision)]), flush=True)


def row(problem: Problem, precision: type) -> list[str]:
    """An evaluation on the parameters, and the kernel with its factorisation."""
    x, y = (jnp.asarray(array) for array in problem.data())
    model, x = jax.tree.map(lambda leaf: leaf.astype(precision), (problem.model(jax.random.key(0)), x))
    params, fn = functional(model)
    counted = dual_cost(model, x)
    taken = counted._replace(
        evaluation=seconds(gradient(fn, params, x, y), 3), start=seconds(lambda: coordinates(fn, params, x, BUDGET), 1)
    )
    numbers = [getattr(cost, name) for name in ("evaluation", "start", "break_even") for cost in (taken, counted)]
    return [f"{problem.name}, {np.dtype(precision)}", *(f"{number:.3g}" for number in numbers)]


def gradient(fn: Callable, params, x: jax.Array, y: jax.Array) -> Callable[[], None]:
    """That of a lazy problem, with its linearisation kept."""
    f0, push = jax.jit(lambda params: jax.linearize(lambda params: fn(params, x), params))(params)
    compiled = jax.jit(lambda push, f0, y, v: jax.grad(lambda v: cross_entropy(f0 + push(v), y))(v))
    return lambda: jax.block_until_ready(compiled(push, f0, y, params))


def seconds(run: Callable[[], object], repetitions: int) -> float:
    """The least that a run takes once everything is compiled."""
    run()
    return min(_timed(run) for _ in range(repetitions))


def _timed(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


if __name__ == "__main__":
    main()
