"""The tables of E-PROBE."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.augmentation.table import trained
from iterlin_lab.experiments.probes.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups, mean_curves
from iterlin_lab.tables.summaries import interval, intervals

ACCURACIES = ("start", "first", "final")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a K and layer; a row a K and run; curves of the probes' test accuracy, a column a layer."""
    probes = pd.read_csv(layout.results / "probes" / "probes.csv", dtype={"period": float})
    probes = probes.rename(columns={"period": "K"})
    runs = compared_runs(probes, trained(scale, layout)[0])
    curves = probes.assign(layer="layer" + probes["layer"].astype(str))
    curves = curves.pivot(index=["K", "run", "step"], columns="layer", values="test_accuracy").reset_index()
    ends = [min(scale.probes.strengths), max(scale.probes.strengths)]
    return {
        "probes": summarise_layers(probes.assign(at_end=probes["strength"].isin(ends)), runs),
        "probes_runs": runs,
        "probes_curves": mean_curves(curves, ["K"]),
    }


def compared_runs(probes: pd.DataFrame, trained: pd.DataFrame) -> pd.DataFrame:
    """How the runs ended, whether all their probes converged, and what of each layer is compared (`readings`)."""
    of_runs = {(row["K"], row["run"]): row for row in trained.to_dict("records")}
    outcomes = {key: row["outcome"] for key, row in of_runs.items()}
    curves = {key: curve.set_index("step")["test_accuracy"] for key, curve in probes.groupby(["K", "run", "layer"])}
    rows = []
    for row, group in groups(probes, ["K", "run"]):
        K, run = row["K"], row["run"]
        diverged = [outcomes[each, run] == "diverged" for each in (K, 1)]
        row |= {
            "outcome": outcomes[K, run],
            "late_gain": of_runs[K, run]["late_gain"],
            "converged": bool(group["converged"].all()),
        }
        for layer in group["layer"].unique():
            found = readings(curves[K, run, layer], curves[1, run, layer], K, *diverged)
            row |= {f"layer{layer}_{name}": value for name, value in found.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def readings(
    curve: pd.Series, one: pd.Series, period: float, diverged: bool = False, one_diverged: bool = False
) -> dict[str, float]:
    """Test accuracies of the probes of a layer by steps, for some K (`curve`) and for K = 1, in the same run.

    - `start`, `first`, `final`: before training, after the first feature update, and after all steps; `one_first`: that
      of K = 1 after as many steps as there are before the first feature update.
    - `halfway`: the steps to halfway from the start to the final accuracy; `one_halfway`: those of K = 1 to the same
      accuracy. There is no way to go if training did not raise it. Their ratio is the `delay`.
    - `fraction`: the part of training that K = 1 takes to the final accuracy of this K.

    What K = 1 does not reach counts as reached at the end. What a run that diverged would have come to is missing.
    """
    start, final = float(curve.iloc[0]), np.nan if diverged else float(curve.iloc[-1])
    middle = (start + final) / 2 if final > start else np.nan
    halfway, one_halfway = first_reached(curve, middle), first_reached(one, np.nan if one_diverged else middle)
    reached = first_reached(one, np.nan if one_diverged else final)
    return {
        "start": start,
        "first": float(curve.get(period, np.nan)),
        "one_first": float(one.get(period, np.nan)),
        "final": final,
        "halfway": halfway,
        "one_halfway": one_halfway,
        "delay": halfway / one_halfway,
        "fraction": reached / one.index[-1],
    }


def first_reached(curve: pd.Series, level: float) -> float:
    """The steps to a level, linear in log steps between two records; the last step if it is not reached."""
    reached = np.flatnonzero(curve >= level)
    if np.isnan(level) or not len(reached):
        return np.nan if np.isnan(level) else float(curve.index[-1])
    if reached[0] == 0:
        return float(curve.index[0])
    around = curve.iloc[reached[0] - 1 : reached[0] + 1]
    return float(np.exp(np.interp(level, around, np.log(np.maximum(around.index, 1)))))


def summarise_layers(probes: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """A row a K and layer: means with 95 % t-intervals over runs, the interval of the delay from its logarithm.

    Also the share of probes that converged, and of those whose λ was `at_end` of the list.
    """
    one, rows = runs[runs["K"] == 1].set_index("run"), []
    for row, group in groups(probes, ["K", "layer"]):
        own, layer = runs[runs["K"] == row["K"]].set_index("run"), row["layer"]
        of_layer = pd.DataFrame({name: own[f"layer{layer}_{name}"] for name in (*ACCURACIES, "fraction", "delay")})
        of_layer["difference"] = of_layer["final"] - one[f"layer{layer}_final"]
        row |= {"runs": len(own), "diverged": int((own["outcome"] == "diverged").sum())}
        row |= group[["converged", "at_end"]].mean().to_dict()
        row |= intervals(of_layer, *ACCURACIES, "fraction", "difference")
        delay = interval(of_layer["delay"].map(np.log))
        row |= {f"delay_{part}": float(np.exp(value)) for part, value in delay.items()}
        rows.append(row)
    return pd.DataFrame(rows)
