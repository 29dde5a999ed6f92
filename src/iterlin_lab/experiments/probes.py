"""E-PROBE (T fig. 5): linear probes of the networks along E-AUG. Nothing here imports jax."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pandas as pd

from iterlin_lab.config import Scale
from iterlin_lab.memory import limit_workers
from iterlin_lab.results import snapshots
from iterlin_lab.runtime import counted, run_side_by_side
from iterlin_lab.settings import parse_period
from iterlin_lab.settings.lenet import compared

PROBE = "iterlin_lab.experiments.linear_probes:probe_run"


def probes(scale: Scale, data: Path, networks: Path) -> pd.DataFrame:
    """A row a K, run, step and layer (from 1): λ of the probe, its accuracies, and whether it converged.

    `networks` is the folder with the cells of E-AUG.
    """
    limit_workers(scale)
    runs = list(product(compared(scale.augmentation), range(scale.augmentation.num_seeds)))
    tasks = []
    for period, run in runs:
        kept = snapshots(networks / period, run)
        tasks.append((scale, data, {step: kept[step] for step in probed(scale, kept)}, run))
    found = run_side_by_side(PROBE, tasks, scale.threads, counted("E-PROBE", "run", len(tasks)))
    each = zip(runs, found, strict=True)
    return pd.DataFrame([{"period": period, "run": run} | row for (period, run), rows in each for row in rows])


def probed(scale: Scale, steps: Iterable[int]) -> list[int]:
    """The steps that have probes, of all that have networks: but for the ends of phases, the same ones for every K."""
    large = parse_period(compared(scale.augmentation)[1])
    told = {step for step in steps if step == 1 or step % large == 0}
    others = sorted(set(steps) - told)
    return sorted({*told, *others[:: scale.probes.every], *others[-1:]})
