"""Time all pairs, interleaved, and hold their ratios against `baseline.json`: `python -m benchmarks --help`."""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

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
        parser.error(f"there is no group {unknown[0]!r}, but {', '.join(GROUPS)}")
    rows = []
    print(markdown([], HEADER), flush=True)
    for name in args.groups or [name for name in GROUPS if name not in ON_REQUEST]:
        print(f"{name} …", file=sys.stderr, flush=True)
        times = measured(GROUPS[name], args.repetitions)
        found = [row(pair, times, baseline) for pair in GROUPS[name]]
        print(lines(found), flush=True)
        rows += found
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


def measured(pairs: list, repetitions: int) -> dict:
    """Milliseconds a step of each side, in each repetition; None where PyTorch is not installed."""
    from benchmarks.torch_steps import NotInstalled

    times: dict = {}
    runs = {}
    for side in dict.fromkeys(side for pair in pairs for side in (pair.ours, pair.other)):
        try:
            runs[side] = side.build(side.problem)
            runs[side]()  # compiles, and warms up
            times[side] = []
        except NotInstalled:
            runs.pop(side, None)
            times[side] = None
    for _ in range(repetitions):
        for side, run in runs.items():
            start = time.perf_counter()
            run()
            times[side].append(1e3 * (time.perf_counter() - start) / side.problem.steps)
    return times


HEADER = ["pair", "ms", "ms of the other", "ratio", "spread", "baseline", "verdict"]


def row(pair, times: dict, baseline: dict[str, float]) -> list[str]:
    """Medians of the times and of the ratios within a repetition, and the quartiles of these."""
    ours, other = times[pair.ours], times[pair.other]
    known = baseline.get(pair.name)
    expected = "" if known is None else f"{known:.3g}"
    if ours is None or other is None:
        return [pair.name, "", "", "", "", expected, "not installed"]
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
