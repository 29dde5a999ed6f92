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
