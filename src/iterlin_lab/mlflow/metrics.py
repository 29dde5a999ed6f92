"""From the tables of a cell to MLflow's metrics. Their names are the same for a cell, where they are means over its
runs, and for a seed, so that both can be compared.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from mlflow.entities import Metric

from iterlin_lab.tables import ACCURACIES
from iterlin_lab.tables.summaries import interval

NOT_CURVES = ("run", "step", "phase_step")


def curve(table: pd.DataFrame, suffix: str, times: Sequence[float] | float | None) -> Iterator[Metric]:
    """What was recorded, from the columns that end in `suffix`; `times` is when, for each row or for all."""
    each = times if isinstance(times, Sequence) else [times] * len(table)
    for column in table.columns:
        name = column.removesuffix(suffix)
        if column.endswith(suffix) and name not in NOT_CURVES:
            for step, value, seconds in zip(table["step"], table[column], each, strict=True):
                yield from metric(readable(name), value, seconds, int(step))


def scalars(values: Mapping[str, float], seconds: float | None, model_id: str | None = None) -> Iterator[Metric]:
    """Single numbers; with a model, they are shown as the model's, too."""
    for name, value in values.items():
        yield from metric(name, value, seconds, 0, model_id)


def metric(name: str, value: float, seconds: float | None, step: int, model_id: str | None = None) -> Iterator[Metric]:
    """None if the number is not finite: MLflow draws infinity as 1.8e308, and nothing else is to be seen then."""
    if math.isfinite(value):
        yield Metric(name, float(value), round(1000 * (seconds or time.time())), step, model_id)


def readable(column: str) -> str:
    """`network/test_accuracy`: MLflow's page groups by what stands before the slash."""
    for model in ("network", "proxy"):
        if column.startswith(f"{model}_"):
            return f"{model}/{column.removeprefix(f'{model}_')}"
    return f"linearisation/{column.removeprefix('linearisation_')}"


def seed_summary(row: Mapping) -> dict[str, float]:
    """How one run ended."""
    return {"steps": row["steps"]} | {f"test_accuracy/{name}": row[name] for name in ACCURACIES}


def cell_summary(runs: pd.DataFrame) -> dict[str, float]:
    """How the runs of a cell ended: numbers of runs, and means with their intervals."""
    summary = {f"runs/{outcome}": float(count) for outcome, count in runs["outcome"].value_counts().items()}
    summary["steps"] = runs["steps"].mean()
    for name in ACCURACIES:
        mean = interval(runs[name])
        summary |= {f"test_accuracy/{name}": mean["mean"]}
        summary |= {f"test_accuracy/{name}_{end}": mean[end] for end in ("low", "high")}
    return summary
