"""The tables of E-ADAM."""

import pandas as pd

from iterlin_lab.experiments.adam.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import Cells, mean_curves, read_cells, summarise
from iterlin_lab.tables.phases import summarise_phases, with_phases
from iterlin_lab.tables.summaries import means

BY = ["method", "K", "tolerance", "learning_rate"]
DRAWN = ("network_test_accuracy", "network_train_accuracy", "proxy_train_accuracy")
TUNED = ("descent", "Adam")  # with K = 1, of which the best η counts
DIGITS = 9  # of mean accuracies: what differs by rounding is a tie


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """K = 1 of E-SWEEP, and the cells of E-ADAM: runs, their summary, and curves over evaluations.

    The curves are of those that are `chosen`. `adam_phases` are the curves of Adam's large K over steps, where all its
    runs re-linearise at once.
    """

    def read(table: str) -> pd.DataFrame:
        found = read_cells(layout.results, cells(scale), table)
        return found[found["run"] < scale.adam.num_seeds]

    runs, curves = read("runs"), read("curves")
    runs = tuned(runs, curves)
    curves = curves.merge(runs[[*BY, "run", "chosen"]], on=[*BY, "run"], how="left")
    lazy, solved = runs["K"] != 1, (curves["method"] == "Adam") & (curves["K"] > 1)
    runs = pd.concat([runs[~lazy], with_phases(runs[lazy], curves, BY)], ignore_index=True)
    summary = summarise(runs, runs[(runs["method"] == "descent") & runs["chosen"]], BY)
    validation = means(runs, [*BY, "chosen"], "validation").drop(columns="runs")
    return {
        "adam": summary.merge(validation, on=BY).merge(
            summarise_phases(runs[runs["phases"].notna()], BY), on=BY, how="left"
        ),
        "adam_runs": runs,
        "adam_curves": over_evaluations(curves[curves["chosen"]]),
        "adam_phases": mean_curves(curves.loc[solved, [*BY, "run", "step", *DRAWN]], BY),
    }


def cells(scale: Scope) -> Cells:
    """The folders of K = 1 of E-SWEEP and of E-ADAM, below the folder of all results."""
    own = scale.adam
    large = {"K": float(parse_period(own.solved.period)), "learning_rate": own.solved.learning_rate}
    return {
        "k_sweep/1": {"method": "gradient", "K": 1.0},
        **_of_one("descent", own.descent.cells("descent")),
        **_of_one("Adam", own.gradient.cells("gradient")),
        "adam/solved": {"method": "Adam", **large},
        "adam/kept": {"method": "kept", **large},
        **{
            f"adam/truncated-{label}": {"method": "TGN", "tolerance": float(label)}
            for label in own.truncated.tolerances
        },
    }


def _of_one(method: str, rates: dict[str, float]) -> Cells:
    return {f"adam/{cell}": {"method": method, "K": 1.0, "learning_rate": rate} for cell, rate in rates.items()}


def tuned(runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """The runs with their best accuracy on the `validation` data, and whether they are `chosen`.

    Of each method of `TUNED`, the runs with one η are: with that of the best mean of `validation`, where no run
    diverged; with the smaller η if two means are equal. All other runs are there as they are.
    """
    keys = [*BY, "run"]
    validation = curves.groupby(keys, dropna=False)["network_validation_accuracy"].max().rename("validation")
    runs = runs.merge(validation.reset_index(), on=keys, how="left").assign(chosen=True)
    for method in TUNED:
        grid = (runs["method"] == method) & (runs["K"] == 1)
        runs.loc[grid, "chosen"] = runs.loc[grid, "learning_rate"] == _best(runs[grid])
    return runs


def _best(runs: pd.DataFrame) -> float | None:
    by_rate = runs.groupby("learning_rate")  # in rising order
    stable = ~by_rate["outcome"].agg(lambda outcomes: (outcomes == "diverged").any())
    means = by_rate["validation"].mean().round(DIGITS)[stable]
    return means.index.to_numpy(float)[means.argmax()] if len(means) else None  # the first of equals


def over_evaluations(curves: pd.DataFrame) -> pd.DataFrame:
    """Mean curves against evaluations of the gradient, which steps of different solvers take in different numbers."""
    at = curves[[*BY, "run", *DRAWN]].assign(step=curves["evaluations"])
    return mean_curves(at, BY).rename(columns={"step": "evaluations"})
