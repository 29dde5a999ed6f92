"""What is compared with what: one line a pair."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from benchmarks import jax_steps as jx
from benchmarks import kernels as ks
from benchmarks import torch_steps as pt
from benchmarks.problems import (
    DIGITS,
    DUAL,
    FULL,
    LARGE_DUAL,
    LONG,
    MINI,
    NARROW,
    PAPER,
    PHASE,
    RESNET,
    SMALL,
    VIT,
    Problem,
)


class Side(NamedTuple):
    """`build(problem)` returns a function that takes the problem's steps and waits for them."""

    build: Callable[[Problem], Callable[[], None]]
    problem: Problem


class Pair(NamedTuple):
    """The ratio of the times that a step of `ours` and of `other` takes."""

    name: str
    ours: Side
    other: Side


def on(problem: Problem, name: str, ours: Callable, other: Callable) -> Pair:
    """A pair on one problem."""
    return Pair(f"{problem.name}: {name}", Side(ours, problem), Side(other, problem))


PLAIN_FLOOR = partial(jx.arithmetic, input_gradients=1, others=2)
LINEARISED_FLOOR = partial(jx.arithmetic, input_gradients=2, others=3)
CONTRACTION, STRUCTURED = map(ks.tangents, ("JACOBIAN_CONTRACTION", "STRUCTURED_DERIVATIVES"))
HOISTED_FLOOR = partial(jx.arithmetic, input_gradients=2, others=2)


def mini_batches(problem: Problem) -> list[Pair]:
    """Steps on mini-batches, plain and linearised."""
    return [
        on(problem, "linearised / plain", jx.linearised, jx.plain),
        on(problem, "plain / PyTorch", jx.plain, pt.plain),
        on(problem, "linearised / PyTorch", jx.linearised, pt.linearised),
        on(problem, "plain / its arithmetic", jx.plain, PLAIN_FLOOR),
        on(problem, "linearised / its arithmetic", jx.linearised, LINEARISED_FLOOR),
    ]


def in_dual(problem: Problem) -> list[Pair]:
    """Whole phases in their dual. One step takes as long as so many on the parameters: the break-even."""
    primal = Side(jx.hoisted, replace(problem, steps=10))
    names = {1: "break-even, in steps", 250: "250 steps, dual / explicit", 2500: "2500 steps, dual / explicit"}
    return [
        Pair(f"{problem.name}: {name}", Side(jx.dual, replace(problem, steps=steps)), primal)
        for steps, name in names.items()
    ]


def kernels(problem: Problem) -> list[Pair]:
    """The kernel of a network, by structure where that is less work, against others."""
    return [
        on(problem, "kernel by structure / by Jacobian", ks.by_structure, ks.by_jacobian),
        on(problem, "kernel / neural-tangents, Jacobian", ks.by_structure, CONTRACTION),
        on(problem, "kernel / neural-tangents, structured", ks.by_structure, STRUCTURED),
    ]


# Sides that stand in several pairs of a group are measured once; a group fits in memory together.
GROUPS: dict[str, list[Pair]] = {
    "mini-batch": [
        *mini_batches(MINI),
        on(MINI, "plain / PyTorch compiled", jx.plain, pt.plain_compiled),
        on(MINI, "linearised / PyTorch compiled", jx.linearised, pt.linearised_compiled),
    ],
    "full batch": [
        on(FULL, "linearised / plain", jx.hoisted, jx.plain),
        on(FULL, "linearised / PyTorch", jx.hoisted, pt.linearised),
        on(FULL, "plain / PyTorch", jx.plain, pt.plain),
        on(FULL, "linearised / its arithmetic", jx.hoisted, HOISTED_FLOOR),
    ],
    "digits": [
        on(DIGITS, "linearised / plain", jx.hoisted, jx.plain),
        on(DIGITS, "K = 1 / plain", jx.every_step, jx.plain),
        on(DIGITS, "watched / linearised", jx.watched, jx.hoisted),
        on(DIGITS, "plain / PyTorch", jx.plain, pt.plain),
        on(DIGITS, "linearised / PyTorch", jx.hoisted, pt.linearised),
    ],
    "long phases": [
        on(PHASE, "flow / explicit steps", jx.flow, jx.hoisted),
        on(PHASE, "closed form / explicit steps", jx.closed_form, jx.squared),
    ],
    "longer phases": [
        Pair("flow, a step: K = 500000 / K = 5000", Side(jx.flow, LONG), Side(jx.flow, PHASE)),
        Pair("closed form, a step: K = 500000 / K = 5000", Side(jx.closed_form, LONG), Side(jx.closed_form, PHASE)),
    ],
    "dual": [pair for problem in DUAL for pair in in_dual(problem)],
    "kernel": [pair for problem in DUAL for pair in kernels(problem)],
    "stock jax": [
        on(SMALL, "plain / stock jax", jx.plain, jx.stock_plain),
        on(SMALL, "linearised / stock jax", jx.linearised, jx.stock_linearised),
    ],
    "scaling": [
        Pair("linearised: 256 examples / 64", Side(jx.linearised, MINI), Side(jx.linearised, SMALL)),
        Pair("linearised: 50 channels / 25", Side(jx.linearised, MINI), Side(jx.linearised, NARROW)),
    ],
    "residual": mini_batches(RESNET),
    "transformer": mini_batches(VIT),
    "large dual": [pair for problem in LARGE_DUAL for pair in in_dual(problem)],
    "gpu": [
        on(MINI, "plain / its arithmetic", jx.plain, PLAIN_FLOOR),
        on(MINI, "linearised / its arithmetic", jx.linearised, LINEARISED_FLOOR),
        on(MINI, "linearised / PyTorch compiled", jx.linearised, pt.linearised_compiled),
        on(PAPER, "linearised / its arithmetic", jx.hoisted, HOISTED_FLOOR),
    ],
}

# Only when asked for: some minutes a repetition, and too large for a CPU.
ON_REQUEST = ("large dual", "gpu")
