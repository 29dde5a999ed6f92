"""The tables of E-MNIST."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.mnist.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.summaries import differences

DRAWN = ("network_test_accuracy", "proxy_test_accuracy", "network_train_accuracy", "proxy_train_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs, with what is measured of their curves; a row a K; curves."""
    folder, cells = layout.results / "mnist", by_period(scale.mnist.periods)
    runs, curves = (read_cells(folder, cells, table) for table in ("runs", "curves"))
    runs = runs.merge(measured(curves), on=["K", "run"], how="left")
    runs["trained"] = runs["network_final"].where(np.isfinite(runs["K"]), runs["proxy_final"])  # the model that was
    means = runs.groupby("K", sort=False)[
        ["largest_gap", "late_gain", "train_accuracy_after_two", "network_train_accuracy"]
    ].mean()
    first = runs[runs["K"] == 1]
    summary = summarise(runs, first, ["K"]).merge(differences(runs, first, ["K"], "trained"), on="K")
    return {
        "mnist": summary.merge(means.reset_index(), on="K"),
        "mnist_runs": runs,
        "mnist_curves": mean_curves(curves[["K", "run", "step", *DRAWN]], ["K"]),
    }


def measured(curves: pd.DataFrame) -> pd.DataFrame:
    """Per K and run: `largest_gap` from K = 1, `late_gain` (see there), and `train_accuracy_after_two` updates."""
    timed = curves.assign(time=curves["step"])
    first = timed[timed["K"] == 1]
    found = []
    for K, curve in timed.groupby("K", sort=False):
        columns = {
            "largest_gap": largest_gaps(curve, first),
            "late_gain": late_gains(curve),
            "train_accuracy_after_two": after_two_updates(curve),
        }
        found.append(pd.DataFrame(columns).rename_axis("run").reset_index().assign(K=K))
    return pd.concat(found)


def after_two_updates(curves: pd.DataFrame) -> pd.Series:
    """By run, the network's training accuracy at the last record before the third feature update, if it made two."""
    last = curves[curves["feature_updates"] <= 2].sort_values("step").groupby("run").last()
    return last["network_train_accuracy"].where(last["feature_updates"] == 2)


def late_gains(curves: pd.DataFrame) -> pd.Series:
    """By run, the part of what the proxy gains in training accuracy over the first phase that its second half brings.

    Missing where that phase has not ended, or has no record at its end or between.
    """

    def late(curve: pd.DataFrame) -> float:
        later = curve[curve["feature_updates"] > 0]
        end = (later["step"] - later["phase_step"]).min() if len(later) else 0
        phase = curve[(curve["step"] <= end) & (curve["feature_updates"] == 0)].set_index("step")[
            "proxy_train_accuracy"
        ]
        second = phase[phase.index >= end / 2]
        if len(second) < 2 or phase.index[-1] != end or phase.iloc[-1] == phase.iloc[0]:
            return float("nan")
        return float((second.iloc[-1] - second.iloc[0]) / (phase.iloc[-1] - phase.iloc[0]))

    return pd.Series({run: late(curve) for run, curve in curves.groupby("run")}, dtype=float)
