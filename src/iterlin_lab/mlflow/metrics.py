"""From the tables of a cell to MLflow's metrics. Their names are the same for a cell, where they are means over its
runs, and for a seed, so that both can be compared.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from matplotlib.colors import to_hex
from mlflow.entities import Metric

from iterlin_lab.figures.style import colour
from iterlin_lab.tables import ACCURACIES
from iterlin_lab.tables.summaries import interval

VALIDATION = "validation_accuracy"  # by which the best cell is chosen
NOT_CURVES = ("run", "step", "phase_step")


def curve(table: pd.DataFrame, suffix: str, times: Sequence[float] | float | None) -> Iterator[Metric]:
    """What was recorded, from the columns that end in `suffix`; `times` is when, for each row or for all."""
    each = times if isinstance(times, Sequence) else [times] * len(table)
    for step, seconds in zip(table["step"], each, strict=True):
        yield from axis(int(step), seconds)
    for column in table.columns:
        name = column.removesuffix(suffix)
        if column.endswith(suffix) and name not in NOT_CURVES:
            for step, value, seconds in zip(table["step"], table[column], each, strict=True):
                yield from metric(readable(name), value, seconds, int(step))


def axis(step: int, seconds: float | None) -> Iterator[Metric]:
    """An axis for charts of one's own, whose steps are linear otherwise and go up to 10⁹."""
    if step > 0:
        yield from metric("log10_step", math.log10(step), seconds, step)


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


def log10_of(params: Mapping[str, object]) -> dict[str, float]:
    """K as a number that MLflow can sort and draw by, where it is one."""
    K = str(params["K"])
    return {"log10_K": math.log10(int(K))} if K.isdigit() else {}


def colour_of(params: Mapping[str, object]) -> dict[str, str]:
    """The tag that gives a run the colour of its K, as in all figures."""
    K = str(params["K"])
    return {"mlflow.runColor": to_hex(colour(float(K)))} if K == "inf" or K.isdigit() else {}


def seed_summary(row: Mapping) -> dict[str, float]:
    """How one run ended."""
    return _headline(row) | {"steps": row["steps"]} | {f"test_accuracy/{name}": row[name] for name in ACCURACIES}


def cell_summary(runs: pd.DataFrame, mean: pd.DataFrame) -> dict[str, float]:
    """How the runs of a cell ended: numbers of runs, and means with their intervals; and from the mean curve, the best
    accuracy on validation data.
    """
    summary = {f"runs/{outcome}": float(count) for outcome, count in runs["outcome"].value_counts().items()}
    summary |= _headline(runs.mean(numeric_only=True).to_dict())
    summary |= {VALIDATION: mean["network_validation_accuracy_mean"].max(), "steps": runs["steps"].mean()}
    for name in ACCURACIES:
        ends = interval(runs[name])
        summary |= {f"test_accuracy/{name}": ends["mean"]}
        summary |= {f"test_accuracy/{name}_{end}": ends[end] for end in ("low", "high")}
    return summary


def _headline(row: Mapping) -> dict[str, float]:
    """The accuracies that comparisons use."""
    return {"accuracy": row["network_validation_stopped"], "proxy_accuracy": row["proxy_validation_stopped"]}
