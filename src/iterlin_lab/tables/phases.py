"""How well lazy problems were solved, from the records at the ends of phases."""

import pandas as pd

RUN = ["cell", "run"]


def phase_ends(curves: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The records at ends of lazy phases: a later one counts its phase from there, or the run ended there.

    Both tables have columns cell and run. The end of a phase may lie between two records, and is then not among them.
    """
    starts = curves.loc[curves["step"] > curves["phase_step"], RUN].assign(step=curves["step"] - curves["phase_step"])
    last = runs.loc[runs["last_phase_ended"].astype(bool), RUN].merge(curves.groupby(RUN)["step"].max().reset_index())
    return curves.merge(pd.concat([starts, last]).drop_duplicates(), on=[*RUN, "step"])


def with_phases(runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """The runs, with what the ends of their phases say.

    `phases` that ended, `recorded` ones among these, and of these the median and the largest `certificate`
    ‖g‖/‖g_s‖ and the lowest training accuracy of the proxy.
    """
    by_run = phase_ends(curves, runs).groupby(RUN)
    ends = pd.DataFrame(
        {
            "recorded": by_run.size(),
            "certificate_median": by_run["certificate"].median(),
            "certificate_largest": by_run["certificate"].max(),
            "proxy_train_accuracy_lowest": by_run["proxy_train_accuracy"].min(),
        }
    )
    phases = runs.assign(phases=runs["feature_updates"] + runs["last_phase_ended"].astype(int))
    table = phases.merge(ends.reset_index(), on=RUN, how="left")
    return table.fillna({"recorded": 0})


def summarise_phases(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a cell, of runs `with_phases`: phases a run, the share recorded, and the same of all its runs."""
    by_cell = runs.groupby("cell", sort=False)
    return pd.DataFrame(
        {
            "median_phases": by_cell["phases"].median(),
            "recorded": by_cell["recorded"].sum() / by_cell["phases"].sum(),
            "certificate_median": by_cell["certificate_median"].median(),
            "certificate_largest": by_cell["certificate_largest"].max(),
            "proxy_train_accuracy_lowest": by_cell["proxy_train_accuracy_lowest"].min(),
        }
    ).reset_index()
