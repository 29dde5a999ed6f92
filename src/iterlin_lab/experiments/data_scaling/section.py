"""E-DATA: its tables and its figure."""

import math
from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.data_scaling.claims import LIMIT
from iterlin_lab.experiments.data_scaling.settings import Scope
from iterlin_lab.report.answer import Answer, Claims, sentence
from iterlin_lab.report.names import named, period_text
from iterlin_lab.report.setting import caveat
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent, training_losses


def answer(scale: Scope, tables: Mapping[str, pd.DataFrame], claims: Claims) -> Answer:
    """Whether rare feature updates, or none, need more data."""
    slopes, largest = tables["data_scaling_slopes"], max(scale.data_scaling.sizes)
    finite = slopes["K"][(slopes["K"] > 1) & (slopes["K"] <= LIMIT)]
    sentences = [
        sentence(
            "E-DATA-1",
            claims,
            "with all finite K up to 10⁷ a network gains as much from more training data as with K = 1",
            "With some finite K up to 10⁷ more training data lowers the error at another rate than with K = 1",
            _laws(slopes, finite.max()),
        ),
        sentence(
            "E-DATA-3",
            claims,
            "a model without any feature update (K = ∞) gains less from more training data than K = 1",
            "A model without any feature update (K = ∞) does not gain less from more training data than K = 1",
            _laws(slopes, math.inf),
        ),
        sentence(
            "E-DATA-4",
            claims,
            f"with {largest} training examples a network generalises worse with K = 10⁸ than with K = 1",
            f"With {largest} training examples the test accuracy with K = 10⁸ is not a point below that with K = 1",
            holds=f"With {largest} training examples the test accuracy with K = 10⁸ is below that with K = 1",
        ),
    ]
    runs = tables["data_scaling_runs"]
    return Answer(sentences, "", caveat(scale, runs[runs["method"] == "gradient"]))  # the control has its own limit


def _laws(slopes: pd.DataFrame, K: float) -> str:
    """The power laws of a K and of K = 1; nothing where one of them was not run or has none."""
    gradient = slopes[slopes["method"] == "gradient"].set_index("K")["slope_mean"].reindex([K, 1])
    laws = [f"n^{slope:.2f} with {named(K=at)}" for at, slope in zip((K, 1), gradient, strict=True)]
    return "" if gradient.isna().any() else f"test error ∝ {' and '.join(laws)}".replace("-", "−")


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs of every n and K ended, their accuracies, and the exponents of their errors."""
    table, slopes, settings = tables["data_scaling"], tables["data_scaling_slopes"], scale.data_scaling
    rows = pd.DataFrame(
        {
            "n": table["n"],
            "K": _names(table),
            **outcome_columns(table),
            "steps": table["median_steps"].map("{:g}".format),
            "training loss": training_losses(table, tables["data_scaling_runs"], ["method", "n", "K"]),
            "validation-stopped": percent(table, "accuracy"),
            "difference from K = 1": percent(table, "difference"),
            "test-stopped": percent(table, "test_stopped"),
        }
    )
    laws = pd.DataFrame(
        {
            "K": _names(slopes),
            "runs": slopes["runs"],
            "exponent": _exponents(slopes, "slope"),
            "difference from K = 1": _exponents(slopes, "slope_difference"),
        }
    )
    return f"""## E-DATA: generalisation against the number of training examples

After T fig. 4: every K on training sets of n examples, with {settings.num_validation} validation and
{settings.num_test} test examples, by {_steps(scale)} up to {settings.num_steps:g} steps with η =
{settings.learning_rate:g}. The control is K = 1 by up to {settings.control.num_steps:g} explicit steps with η =
{settings.control.learning_rate:g}. {_lazy(scale)}
Run i has the same initialisation for every n and K and the same data for every K, and its smaller training sets are
parts of its larger ones.

Test accuracies are in percent, with 95 % t-intervals, and of the model that was trained: the linear proxy for K = ∞,
else the network. *Validation-stopped*, from which differences are taken run by run, is read at the record with the best
validation accuracy; *test-stopped* is the papers' "optimal early stopping" and flatters. Steps, and the network's
training loss at the end, are medians. K = ∞ is not expected to fit: the network, which decides that, is not what is
trained.

{markdown_table(rows)}

To the validation-stopped test error a power of n is fitted, for each run by least squares in the logarithms of both.
These are its exponents: means over the runs that erred at every n, with 95 % t-intervals.

{markdown_table(laws)}

![Test error against the number of training examples for every K](figures/data_scaling.svg)

*(a) Test error against the number of training examples n, both on logarithmic axes. (b) The difference from K = 1
at the same n, run by run. Means over runs and 95 % t-intervals; points at the same n are drawn side by side.*"""


def _names(table: pd.DataFrame) -> list[str]:
    notes = table["method"].map({"gradient": "", "control": " (control)"})
    return list(table["K"].map(period_text) + notes)


def _steps(scale: Scope) -> str:
    solver = scale.data_scaling.solver
    return f"{solver.title} for the time of" if solver.flow_tolerance else f"{solver.title},"


def _lazy(scale: Scope) -> str:
    if scale.data_scaling.solver.flow_tolerance:
        return """In T it tells what comes from the higher η that K = ∞ has there; here all K have the same η,
and the control is a check on K = 1 alone."""
    return "K = ∞ has the η and the steps of the control, which so tells what comes from them."


def _exponents(table: pd.DataFrame, name: str) -> list[str]:
    pairs = zip(table[f"{name}_mean"], table[f"{name}_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.3f} ± {high - mean:.3f}" for mean, high in pairs]
