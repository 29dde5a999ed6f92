"""The tables of E-ADAM."""

import pandas as pd

from iterlin_lab.experiments.adam.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import Cells, mean_curves, read_cells, summarise
from iterlin_lab.tables.phases import summarise_phases, with_phases

BY = ["method", "K", "tolerance"]
DRAWN = ("network_test_accuracy", "network_train_accuracy", "proxy_train_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """K = 1 of E-SWEEP, and the cells of E-ADAM: runs, their summary, and curves over evaluations.

    `adam_phases` are the curves of Adam's large K over steps, where all its runs re-linearise at once.
    """

    def read(table: str) -> pd.DataFrame:
        found = read_cells(layout.results, cells(scale), table)
        return found[found["run"] < scale.adam.num_seeds]

    runs, curves = read("runs"), read("curves")
    lazy, solved = runs["K"] != 1, (curves["method"] == "Adam") & (curves["K"] > 1)
    runs = pd.concat([runs[~lazy], with_phases(runs[lazy], curves, BY)], ignore_index=True)
    summary = summarise(runs, runs[runs["method"] == "gradient"], BY)
    return {
        "adam": summary.merge(summarise_phases(runs[runs["phases"].notna()], BY), on=BY, how="left"),
        "adam_runs": runs,
        "adam_curves": over_evaluations(curves),
        "adam_phases": mean_curves(curves.loc[solved, [*BY, "run", "step", *DRAWN]], BY),
    }


def cells(scale: Scope) -> Cells:
    """The folders of K = 1 of E-SWEEP and of E-ADAM, below the folder of all results."""
    large = float(parse_period(scale.adam.solved.period))
    tolerances = {f"adam/truncated-{label}": float(label) for label in scale.adam.truncated.tolerances}
    return {
        "k_sweep/1": {"method": "gradient", "K": 1.0},
        "adam/gradient": {"method": "Adam", "K": 1.0},
        "adam/solved": {"method": "Adam", "K": large},
        **{folder: {"method": "TGN", "tolerance": tolerance} for folder, tolerance in tolerances.items()},
    }


def over_evaluations(curves: pd.DataFrame) -> pd.DataFrame:
    """Mean curves against evaluations of the gradient, which steps of different solvers take in different numbers."""
    at = curves[[*BY, "run", *DRAWN]].assign(step=curves["evaluations"])
    return mean_curves(at, BY).rename(columns={"step": "evaluations"})
