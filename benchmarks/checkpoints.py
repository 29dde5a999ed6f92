"""What checkpoints cost: the same runs alternately with and without, `python -m benchmarks.checkpoints --help`."""

import argparse
import statistics
import tempfile
import time
from typing import Any, NamedTuple

import jax

from benchmarks.__main__ import markdown
from benchmarks.problems import CLASSES
from iterlin import Every, FileCheckpoints, cross_entropy, sgd, train
from iterlin_lab.nets.shared.build import build

PAPER = {"name": "lenet", "channels": [50, 50], "kernel": 5, "padding": "VALID", "widths": [120, 84]}
SMALL = {"name": "lenet", "channels": [8, 8], "kernel": 3, "padding": "SAME", "widths": [64, 32]}


class Setting(NamedTuple):
    """What a run trains, on random images."""

    net: dict[str, Any]
    image_shape: tuple[int, int, int]
    num_examples: int
    batch_size: int | None


SETTINGS = {
    "the papers' LeNet, batches of 256": Setting(PAPER, (32, 32, 3), 1024, 256),
    "the papers' LeNet, 512 in full": Setting(PAPER, (32, 32, 3), 512, None),
    "the laptop's LeNet, 150 in full": Setting(SMALL, (8, 8, 1), 150, None),
}


class Counted(FileCheckpoints):
    """Counts what it writes."""

    count = 0

    def save(self, progress) -> None:
        """Write it."""
        super().save(progress)
        self.count += 1


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description=__doc__)
    parser.add_argument("--every", type=int, default=30, help="seconds between two checkpoints")
    parser.add_argument("--seconds", type=float, default=90, help="that a run takes, about")
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    rows = [[name, *measured(setting, args.seconds, args.pairs, args.every)] for name, setting in SETTINGS.items()]
    print(markdown(rows, ["run", "steps", "checkpoints", "time with / without, median", "all pairs"]))


def measured(setting: Setting, seconds: float, pairs: int, every: float) -> list[str]:
    """Steps of a run, checkpoints in it, and the ratio of the times."""
    n, shape = setting.num_examples, setting.image_shape
    net_key, x_key, y_key, batch_key = jax.random.split(jax.random.key(0), 4)
    ends = {"initialisation": "he_normal", "input_shape": shape, "num_classes": CLASSES}
    model = build(**setting.net, **ends, key=net_key)
    splits = {"train": (jax.random.normal(x_key, (n, *shape)), jax.random.randint(y_key, (n,), 0, CLASSES))}

    def run(num_steps: int, checkpoints: FileCheckpoints | None = None) -> float:
        start = time.perf_counter()
        solver, schedule = sgd(1e-9), Every(10**6)
        options: dict[str, Any] = {"num_steps": num_steps, "first_record": num_steps, "batch_size": setting.batch_size}
        options |= {"key": batch_key, "checkpoints": checkpoints}
        train(model, splits, loss=cross_entropy, solver=solver, schedule=schedule, **options)
        return time.perf_counter() - start

    run(10)  # compiles
    num_steps = max(1, round(seconds * 10 / run(10)))
    ratios, count = [], 0
    for _ in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            checkpoints = Counted(folder, every)
            ratios.append(run(num_steps, checkpoints) / run(num_steps))
            count = checkpoints.count
    return [str(num_steps), str(count), f"{statistics.median(ratios):.3f}", " ".join(f"{r:.3f}" for r in ratios)]


if __name__ == "__main__":
    main()
