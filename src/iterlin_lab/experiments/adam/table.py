"""The tables of E-ADAM."""

import pandas as pd

from iterlin_lab.experiments.adam.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables.phases import summarise_phases, with_phases
from iterlin_lab.tables.summaries import mean_curves, summarise

GRADIENT = ("sgd", "gradient")  # K = 1, without lazy problems
DRAWN = ("network_test_accuracy", "network_train_accuracy", "proxy_train_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """K = 1 of E-SWEEP as the cell `sgd`, and the cells of E-ADAM: runs, their summary, and curves over evaluations.

    `adam_phases` are those of the cell `solved` over steps, where all its runs re-linearise at once.
    """

    def read(table: str) -> pd.DataFrame:
        sgd = read_cells(layout.results / "k_sweep", ["1"], table).assign(cell="sgd")
        own = read_cells(layout.results / "adam", scale.adam.cells, table)
        return pd.concat([sgd[sgd["run"] < scale.adam.num_seeds], own], ignore_index=True)

    runs, curves = read("runs"), read("curves")
    lazy = ~runs["cell"].isin(GRADIENT)
    runs = pd.concat([runs[~lazy], with_phases(runs[lazy], curves)], ignore_index=True)
    summary = summarise(runs, reference=runs[runs["cell"] == "sgd"])
    return {
        "adam": summary.merge(summarise_phases(runs[runs["phases"].notna()]), on="cell", how="left"),
        "adam_runs": runs,
        "adam_curves": over_evaluations(curves),
        "adam_phases": mean_curves(curves.loc[curves["cell"] == "solved", ["cell", "run", "step", *DRAWN]]),
    }


def over_evaluations(curves: pd.DataFrame) -> pd.DataFrame:
    """Mean curves against evaluations of the gradient, which steps of different solvers take in different numbers."""
    at = curves[["cell", "run", *DRAWN]].assign(step=curves["evaluations"])
    return mean_curves(at).rename(columns={"step": "evaluations"})
