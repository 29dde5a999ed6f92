"""The tables of E-MNIST, which read the model that is trained: f_lin, which K = 1 makes the network itself."""

import pandas as pd

from iterlin_lab.experiments.mnist.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.phases import late_gains
from iterlin_lab.tables.summaries import differences

TEST, TRAIN = "proxy_test_accuracy", "proxy_train_accuracy"
MEASURED = ("largest_gap", "late_gain", "after_two", "train_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs, with what is measured of their curves; a row a K; curves."""
    folder, cells = layout.results / "mnist", by_period(scale.mnist.periods)
    runs, curves = (read_cells(folder, cells, table) for table in ("runs", "curves"))
    runs = runs.merge(measured(curves), on=["K", "run"], how="left")
    means = runs.groupby("K", sort=False)[list(MEASURED)].mean()
    first = runs[runs["K"] == 1]
    summary = summarise(runs, first, ["K"]).merge(differences(runs, first, ["K"], "proxy_final"), on="K")
    return {
        "mnist": summary.merge(means.reset_index(), on="K"),
        "mnist_runs": runs,
        "mnist_curves": mean_curves(curves[["K", "run", "step", TEST, TRAIN]], ["K"]),
    }


def measured(curves: pd.DataFrame) -> pd.DataFrame:
    """Per K and run: `largest_gap` from K = 1, `late_gain`, training accuracies `after_two` updates and at the end."""
    timed = curves.assign(time=curves["step"])
    first = timed[timed["K"] == 1]
    found = []
    for K, curve in timed.groupby("K", sort=False):
        columns = {
            "largest_gap": largest_gaps(curve, first, TEST),
            "late_gain": late_gains(curve, TRAIN),
            "after_two": after_two_updates(curve),
            "train_accuracy": curve.sort_values("step").groupby("run")[TRAIN].last(),
        }
        found.append(pd.DataFrame(columns).rename_axis("run").reset_index().assign(K=K))
    return pd.concat(found)


def after_two_updates(curves: pd.DataFrame) -> pd.Series:
    """By run, the training accuracy at the last record before the third feature update, if it made two."""
    last = curves[curves["feature_updates"] <= 2].sort_values("step").groupby("run").last()
    return last[TRAIN].where(last["feature_updates"] == 2)
