"""How well lazy problems were solved, from the records at the ends of phases."""

import pandas as pd

from iterlin_lab.tables.cells import groups


def phase_ends(curves: pd.DataFrame, runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The records at ends of lazy phases: a later one counts its phase from there, or the run ended there.

    The columns `by` tell runs apart, in both tables. The end of a phase may lie between two records, and is then not
    among them.
    """
    starts = curves.loc[curves["step"] > curves["phase_step"], by].assign(step=curves["step"] - curves["phase_step"])
    steps = curves.groupby(by, dropna=False)["step"].max().reset_index()
    last = runs.loc[runs["last_phase_ended"].astype(bool), by].merge(steps)
    return curves.merge(pd.concat([starts, last]).drop_duplicates(), on=[*by, "step"])


def with_phases(runs: pd.DataFrame, curves: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The runs, with what the ends of their phases say; the columns `by`, and `run`, tell them apart.

    `phases` that ended, `recorded` ones among these, and of these the median and the largest `certificate`
    ‖g‖/‖g_s‖ and the lowest training accuracy of the proxy.
    """
    by = [*by, "run"]
    by_run = phase_ends(curves, runs, by).groupby(by, dropna=False)
    ends = pd.DataFrame(
        {
            "recorded": by_run.size(),
            "certificate_median": by_run["certificate"].median(),
            "certificate_largest": by_run["certificate"].max(),
            "proxy_train_accuracy_lowest": by_run["proxy_train_accuracy"].min(),
        }
    )
    phases = runs.assign(phases=runs["feature_updates"] + runs["last_phase_ended"].astype(int))
    table = phases.merge(ends.reset_index(), on=by, how="left")
    return table.fillna({"recorded": 0})


def summarise_phases(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """A row a group, of runs `with_phases`: phases a run, the share recorded, certificates, accuracies."""
    return pd.DataFrame(
        row
        | {
            "median_phases": group["phases"].median(),
            "recorded": group["recorded"].sum() / group["phases"].sum(),
            "certificate_median": group["certificate_median"].median(),
            "certificate_largest": group["certificate_largest"].max(),
            "proxy_train_accuracy_lowest": group["proxy_train_accuracy_lowest"].min(),
        }
        for row, group in groups(runs, by)
    )


def late_gains(curves: pd.DataFrame, name: str) -> pd.Series:
    """By run, the part of the change of `name` over the first phase that the second half of the phase brings.

    Missing where that phase has not ended, or has no record at its end or between.
    """

    def late(curve: pd.DataFrame) -> float:
        later = curve[curve["feature_updates"] > 0]
        end = (later["step"] - later["phase_step"]).min() if len(later) else 0
        phase = curve[(curve["step"] <= end) & (curve["feature_updates"] == 0)].set_index("step")[name]
        second = phase[phase.index >= end / 2]
        if len(second) < 2 or phase.index[-1] != end or phase.iloc[-1] == phase.iloc[0]:
            return float("nan")
        return float((second.iloc[-1] - second.iloc[0]) / (phase.iloc[-1] - phase.iloc[0]))

    return pd.Series({run: late(curve) for run, curve in curves.groupby("run")}, dtype=float)
