"""Time all pairs, interleaved, and hold their ratios against `baseline.json`: `python -m benchmarks --help`."""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

Timed = Callable[[], float]
HERE = Path(__file__).parent
TOLERANCE = 0.25  # by which a ratio may be worse than its baseline: two runs on a shared machine differ by less


def main() -> int:
    """Exit code 1 if a ratio is worse than the baseline."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1), help="of jax and of PyTorch")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--groups", nargs="*", metavar="GROUP", help="of benchmarks/pairs.py; the large ones only when named"
    )
    parser.add_argument("--csv", type=Path, default=Path("results/bench.csv"))
    parser.add_argument("--write-baseline", action="store_true", help="the ratios of this run become the baseline")
    args = parser.parse_args()
    os.environ["NPROC"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)  # before jax and PyTorch start

    from benchmarks.pairs import GROUPS, ON_REQUEST

    baseline_file = HERE / "baseline.json"
    baseline = json.loads(baseline_file.read_text()) if baseline_file.exists() else {}
    if unknown := [name for name in args.groups or () if name not in GROUPS]:
        sys.exit(f"there is no group {unknown[0]!r}, but {', '.join(GROUPS)}")
    rows = []
    print(markdown([], HEADER), flush=True)
    names = args.groups or [name for name in GROUPS if name not in ON_REQUEST]
    total = sum(len(GROUPS[name]) for name in names)
    with tqdm(total=total, unit="pair", leave=False, disable=None) as bar:  # on a terminal alone
        for name in names:
            say(bar, f"{name}, {len(GROUPS[name])} pairs")
            for found in rows_of(GROUPS[name], args.repetitions, baseline, bar):
                with bar.external_write_mode():
                    print(lines([found]), flush=True)
                rows.append(found)
    args.csv.parent.mkdir(parents=True, exist_ok=True)
    args.csv.write_text("".join(",".join(f'"{cell}"' for cell in cells) + "\n" for cells in [HEADER, *rows]))
    if args.write_baseline:
        found = {cells[0]: float(cells[3]) for cells in rows if cells[-1] != "shown" and cells[3]}
        baseline_file.write_text(json.dumps(baseline | found, indent=2, ensure_ascii=False) + "\n")
    worse = [cells[0] for cells in rows if cells[-1] == "worse"]
    if worse and not args.write_baseline:
        print(f"\nworse than the baseline by more than {TOLERANCE:.0%}: {', '.join(worse)}")
        return 1
    return 0


def say(bar: tqdm, text: str) -> None:
    """What is measured next: beside the bar, or in a line where there is none."""
    if bar.disable:
        print(text, file=sys.stderr, flush=True)
    else:
        bar.set_description(text)


def rows_of(pairs: list, repetitions: int, baseline: dict[str, float], bar: tqdm) -> Iterator[list[str]]:
    """The row of each pair, as soon as it is measured."""
    built: dict = {}
    for pair in pairs:
        say(bar, f"next: {pair.name}")
        yield row(pair, measured(pair, repetitions, built), baseline)
        bar.update()


def measured(pair: Any, repetitions: int, built: dict[Any, Timed | None]) -> tuple[list[float], list[float]] | None:
    """Milliseconds a step of both sides, in turn, in each repetition; None where the other's library is not installed.

    A side that stands in several pairs is in `built` from the first on.
    """
    for side in (pair.ours, pair.other):
        if side not in built:
            built[side] = ready(side)
    ours, other = built[pair.ours], built[pair.other]
    if ours is None or other is None:
        return None
    times = [(ours(), other()) for _ in range(repetitions)]
    return [a for a, _ in times], [b for _, b in times]


def ready(side: Any) -> Timed | None:
    """Takes a side's steps, once compiled and warm, and returns the milliseconds of one."""
    from benchmarks.problems import NotInstalled

    try:
        run = side.build(side.problem)
        run()
    except NotInstalled:
        return None

    def timed() -> float:
        start = time.perf_counter()
        run()
        return 1e3 * (time.perf_counter() - start) / side.problem.steps

    return timed


HEADER = ["pair", "ms", "ms of the other", "ratio", "spread", "baseline", "verdict"]


def row(pair: Any, times: tuple[list[float], list[float]] | None, baseline: dict[str, float]) -> list[str]:
    """Medians of the times and of the ratios within a repetition, and the quartiles of these."""
    known = baseline.get(pair.name)
    expected = "" if known is None else f"{known:.3g}"
    if times is None:
        return [pair.name, "", "", "", "", expected, "not installed"]
    ours, other = times
    ratios = [a / b for a, b in zip(ours, other, strict=True)]
    low, ratio, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    if "PyTorch" in pair.name:
        verdict = "shown"  # its threads wait for each other, so its times depend on what else the machine does
    else:  # worse only if three repetitions in four say so
        verdict = "new" if known is None else "worse" if low > known * (1 + TOLERANCE) else "holds"
    spread = f"{low:.3g}–{high:.3g}"
    return [
        pair.name,
        f"{statistics.median(ours):.3g}",
        f"{statistics.median(other):.3g}",
        f"{ratio:.3g}",
        spread,
        expected,
        verdict,
    ]


def markdown(rows: list[list[str]], header: list[str]) -> str:
    """The table as Markdown."""
    return lines([header, ["---"] * len(header), *rows])


def lines(rows: list[list[str]]) -> str:
    """Rows of a table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


if __name__ == "__main__":
    sys.exit(main())
