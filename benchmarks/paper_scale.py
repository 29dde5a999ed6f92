"""What the papers' scale costs on this device: `python -m benchmarks.paper_scale --help`.

The papers' LeNet on 32×32 colour images, through the package's own training. Everything is measured here but the rows
that say that they are extrapolated.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import jax_steps as jx
from benchmarks.__main__ import markdown, measured
from benchmarks.pairs import HOISTED_FLOOR, LINEARISED_FLOOR, PLAIN_FLOOR, on
from benchmarks.problems import CLASSES, LeNetProblem
from iterlin import Dual, Every, Flow, Never, cross_entropy, sgd, train
from iterlin._execution import Batched, Fixed
from iterlin._records import Data
from iterlin._start import initial_state, lazy_problem
from iterlin._state import Stop
from iterlin_lab.nets.lenet.module import LeNet
from iterlin_lab.nets.shared.initialise import initialise

HEADER = ["what", "measured", "unit", "of the arithmetic's rate"]
PARTS = ("speeds", "precisions", "together", "phase")
PRECISIONS = ("float32", "tensorfloat32", "bfloat16")
RATE, SHORT = 1e-5, 1e-3  # η of T fig. 4, and one with which few steps move the network
UPDATES, PERIOD = 10, 5 * 10**6  # of E-AUG: T §4.1 says 8 to 12 updates
NUM_TEST = 5000
MEMORY = 16 * 2**30  # bytes for the Jacobian and the kernel of a dual

Row = list[str]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper_scale", description=__doc__)
    parser.add_argument(
        "--examples", type=int, default=45_000, help="of CIFAR-10, or random ones if TFDS_DATA_DIR has none"
    )
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=1000, help="that a measurement takes")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 4, 16, 64], help="that train in one program")
    parser.add_argument("--period", type=int, default=10**8, help="K of the phase that is integrated as a flow")
    parser.add_argument("--dual", action="store_true", help="integrate that phase in its dual")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which to measure (default: all)")
    args = parser.parse_args()
    mini = LeNetProblem(f"batch {args.batch}", args.batch, steps=args.steps)
    full = LeNetProblem(
        f"full batch {args.examples}", args.examples, steps=max(1, args.steps * args.batch // args.examples)
    )
    jax.config.update("jax_default_matmul_precision", "float32")  # the preset's; a GPU's own default rounds more
    splits, origin = images(args.examples)
    data = splits["train"]
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {origin}\n")
    measures = (
        lambda: speeds(mini, full),
        lambda: precisions(data, mini),
        lambda: together(data, mini, args.seeds),
        lambda: long_phase(splits, args.period, args.dual),
    )
    chosen = [measure() for part, measure in zip(PARTS, measures, strict=True) if part in args.parts]
    print(markdown([row for rows in chosen for row in rows], HEADER))


def images(num_examples: int) -> tuple[Data, str]:
    """Standardised images and labels to train on and to test with, and where they are from."""
    number = num_examples + NUM_TEST
    if "TFDS_DATA_DIR" in os.environ:
        from iterlin_lab.data.sets import DATA_SETS

        found = DATA_SETS["cifar10"].load()
        drawn = np.random.default_rng(0).permutation(len(found.labels))[:number]  # classes may be sorted
        x, y, origin = found.images[drawn].astype(np.float32), found.labels[drawn], "CIFAR-10"
    else:
        (x, y), origin = LeNetProblem("", number).data(), "random data"
    x, y = jnp.asarray((x - x.mean()) / x.std()), jnp.asarray(y, jnp.int32)
    parts = {"train": slice(num_examples), "test": slice(num_examples, None)}
    return {name: (x[part], y[part]) for name, part in parts.items()}, origin


def speeds(mini: LeNetProblem, full: LeNetProblem) -> Iterator[Row]:
    """Steps a second in each precision, with matrix products of as many operations beside them."""
    for precision in PRECISIONS:
        for pair in (
            on(mini, "plain", jx.plain, PLAIN_FLOOR),
            on(mini, "linearised", jx.linearised, LINEARISED_FLOOR),
            on(full, "plain", jx.plain, PLAIN_FLOOR),
            on(full, "linearised", jx.linearised, LINEARISED_FLOOR),
            on(full, "linearised, primal kept", jx.hoisted, HOISTED_FLOOR),
        ):
            with jax.default_matmul_precision(precision):
                times = measured(pair, 3, {})
            assert times is not None
            ours, floor = (float(np.median(side)) for side in times)
            yield [f"{pair.name}, {precision}", f"{1000 / ours:.4g}", "steps/s", f"{floor / ours:.0%}"]


def precisions(data: tuple[jax.Array, jax.Array], problem: LeNetProblem) -> Iterator[Row]:
    """What a cheaper precision of matrix products does to the network after the same steps."""
    for precision in PRECISIONS:
        with jax.default_matmul_precision(precision):
            result = train(
                _network(0),
                {"train": data},
                loss=cross_entropy,
                solver=sgd(SHORT),
                schedule=Every(max(1, problem.steps // 10)),
                num_steps=problem.steps,
                batch_size=problem.batch,
                key=jax.random.key(0),
            )
        for name in ("network_train_accuracy", "network_train_loss"):
            yield [f"{problem.steps} steps, {precision}: {name}", f"{result.records[-1][name]:.4g}", "", ""]


def together(data: tuple[jax.Array, jax.Array], problem: LeNetProblem, numbers: Sequence[int]) -> Iterator[Row]:
    """Steps of several runs in one program, and runs of E-AUG's length an hour: extrapolated from steady state."""
    for number in numbers:
        seconds = _seconds(_steps_together(data, problem, number))
        rate = number * problem.steps / seconds
        yield [f"{problem.name}: linearised, {number} runs at once", f"{rate:.4g}", "steps/s of all", ""]
        hours = UPDATES * PERIOD / rate / 3600
        yield [
            f"E-AUG, K = {PERIOD:g}, {UPDATES} phases, {number} at once: EXTRAPOLATED",
            f"{1 / hours:.3g}",
            "runs/h",
            "",
        ]


def _steps_together(data: tuple[jax.Array, jax.Array], problem: LeNetProblem, number: int) -> Callable[[], None]:
    splits, solver = {"train": data}, sgd(RATE)
    runs, states = [], []
    for seed in range(number):
        settings = {"loss": cross_entropy, "batch_size": problem.batch, "key": jax.random.key(seed)}
        lazy, params = lazy_problem(_network(seed), data, **settings)
        runs.append(Fixed(lazy, solver, Never(), splits, params))
        states.append(initial_state(lazy, params, solver, Never()))
    group, taken = Batched(runs, states), 0

    def run() -> None:
        nonlocal taken
        taken += problem.steps
        group.advance(Stop(taken, problem.steps, taken), [True] * number)
        jax.block_until_ready(group.state.params)

    return run


def long_phase(splits: Data, period: int, dual: bool) -> Iterator[Row]:
    """One full-batch phase as gradient flow, with its compilation."""
    start = time.perf_counter()
    settings = {"loss": cross_entropy, "num_steps": period, "first_record": period}
    solver = Dual(Flow(RATE), max_bytes=MEMORY) if dual else Flow(RATE)
    result = train(_network(0), splits, solver=solver, schedule=Every(period), **settings)
    form, end = " in its dual" * dual, result.records[-1]
    name = f"{len(splits['train'][0])} examples: one phase of K = {period:g} as a flow{form}"
    yield [name, f"{time.perf_counter() - start:.4g}", "s", ""]
    yield [f"{name}, to step {end['step']:g}, {result.outcome.name}", f"{end['evaluations']:g}", "evaluations", ""]
    yield [f"{name}: estimated error", f"{result.report['error_estimate']:.2g}", "of the path", ""]
    for which in ("proxy_train", "proxy_test", "network_test"):
        yield [f"{name}: {which}_accuracy", f"{end[which + '_accuracy']:.1%}", "", ""]


def _network(seed: int) -> LeNet:
    built, drawn = jax.random.split(jax.random.key(seed))
    return initialise(LeNet((32, 32, 3), CLASSES, key=built), "he_normal", drawn)


def _seconds(run: Callable[[], None]) -> float:
    run()  # compiles
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
