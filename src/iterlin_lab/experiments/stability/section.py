"""E-STABLE: its map, and what the bound ηλ_max < 2 says of it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from iterlin_lab.experiments.stability.settings import Scope
from iterlin_lab.report.names import named, period_text
from iterlin_lab.report.tables import diverging_columns, markdown_table, outcome_columns

BOUND = 2  # on ηλ_max
RANGES = {1: "K = 1", 10: "1 < K ≤ 10", np.inf: "K > 10"}
OTHERS = {
    "pytorch": "It draws small weights, and biases too. λ_max is small at first, and grows once the network leaves the "
    "plateau on which it starts.",
    "he_normal": "It draws larger weights, and no biases. λ_max is large from the start.",
}
PREDICTORS = {"eta_lambda_max": "ηλ_max", "eta_k": "ηK", "K": "K", "learning_rate": "η"}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs of every pair of η and K ended, what the bound explains, and what predicts divergence."""
    settings, n, table = scale.stability, scale.data.num_train, tables["stability"]
    own, other = table[table["own"]], settings.other.initialisation
    return f"""## E-STABLE: which learning rates and periods diverge

After W fig. 1 and 2: gradient descent on full batches with every pair of η and K, for up to {settings.num_steps}
steps, from the same {settings.num_seeds} splits and `{scale.net.initialisation}`
initialisations. η belongs to the mean loss; with the sum over the
{n} examples, to which W's η seem to belong, it is η/{n}. W's own η, 10⁻⁵ and 10⁻⁴ for a sum over 50 000 images, would
be 0.5 and 5 here. Explicit steps on a quadratic are stable while ηλ_max < 2. The table has the median ηλ_max of the
loss's Gauss–Newton matrix at initialisation, the share of runs that diverged with its exact (Clopper–Pearson) 95 %
interval, and the median test accuracy at the end of those that did not, in percent.

{markdown_table(_pairs(own))}

**What the bound explains.** {_bound(tables["stability_bound"], tables["stability_runs"])}

{_updates(tables["stability_bound"])}{_phases(scale, own)}

How well a quantity orders the runs that diverged above those that did not (AUC; 0.5 is chance), with a 95 % bootstrap
interval over the {settings.num_seeds} draws, which with so few is rather too narrow. Among the runs of one draw ηλ_max
orders as η does.

{markdown_table(_predictors(tables["stability_predictors"]))}

![Share of runs that diverged over learning rate and period, and against ηλ_max](figures/stability.svg)

*(a) Runs that diverged, for every pair; the blue line is ηλ_max = 2 for the median λ_max, its band that for the
middle half of the runs, and ηK is constant along dashed diagonals. (b) The share against the median ηλ_max, with
exact 95 % intervals; points of one η are drawn side by side.*

![Learning curves at two learning rates](figures/stability_curves.svg)

*After W fig. 1 and 2: test accuracy at the smallest η (a), beside SGD on mini-batches of {settings.batch_size}, and
at ten times that (b). Means over runs, and 95 % t-intervals; a run that diverged keeps its last value.*

**Another initialisation.** The same splits from `{other}`. {OTHERS.get(other, "")}

{markdown_table(_pairs(table[~table["own"] & (table["method"] == "gd")]))}

![Share of runs that diverged from another initialisation](figures/stability_other.svg)

*Runs that diverged, for every pair of η and K.*"""


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "η": table["learning_rate"].map("{:g}".format),
            "K": table["K"].map(period_text),
            "ηK": [f"{product:.3g}" if np.isfinite(product) else "∞" for product in table["eta_k"]],
            "ηλ_max": table["eta_lambda_max"].map("{:.2g}".format),
            **outcome_columns(table),
            **diverging_columns(table),
        }
    )


def _predictors(table: pd.DataFrame) -> pd.DataFrame:
    found = zip(table["auc"], table["auc_low"], table["auc_high"], strict=True)
    texts = ["–" if pd.isna(auc) else f"{auc:.2f} [{low:.2f}, {high:.2f}]" for auc, low, high in found]
    return pd.DataFrame({"predictor": table["predictor"].map(PREDICTORS), "AUC": texts})


def _of(rows: pd.DataFrame) -> str:
    bad, number = int(rows["diverged"].sum()), int(rows["runs"].sum())
    return f"{bad} of {number} ({bad / number:.0%})"


def _bound(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Which runs diverged on either side of the bound, in words."""
    below, above = table[~table["above"]], table[table["above"]]
    parts = [f"Of the runs with ηλ_max < 2 at initialisation {_of(below)} diverged."] if len(below) else []
    if len(above):
        ranges = (f"{_of(above[above['K_up_to'] == K])} with {RANGES[K]}" for K in above["K_up_to"])
        parts.append(f"Of those above the bound it was {', '.join(ranges)}.")
    parts.append(_verdict(below, above))
    bore = runs[(runs["K"] == 1) & (runs["outcome"] != "diverged") & (runs["eta_lambda_max"] > BOUND)]
    if len(bore):
        accuracy, largest = 100 * bore["network_final"], bore["eta_lambda_max"].max()
        parts.append(
            f"Gradient descent on the network itself, K = 1, bore ηλ_max of up to {largest:.3g}, and came to a test "
            f"accuracy of {accuracy.min():.0f} to {accuracy.max():.0f} %: it re-linearises at every step, and may move "
            "to where λ_max is smaller (which is not measured here)."
        )
    return " ".join(parts)


def _verdict(below: pd.DataFrame, above: pd.DataFrame) -> str:
    """Whether being above the bound was necessary and sufficient."""
    unexplained, explained = below["diverged"].sum(), above["diverged"].sum()
    if unexplained + explained == 0:
        return "With no divergence there is nothing to explain."
    first = "The bound does not explain those below it" if unexplained else "All divergences lie above the bound"
    last = "above it all runs diverge" if explained == above["runs"].sum() else "above it a run need not diverge"
    return f"{first}, and {last}."


def _updates(table: pd.DataFrame) -> str:
    """Where in a phase runs with K > 1 diverged."""
    lazy = table[table["K_up_to"] > 1]
    total, at_update = lazy["diverged"].sum(), lazy["at_update"].sum()
    if total == 0:
        return ""
    expected = (
        ", as one would expect of cross-entropy, whose slope is bounded: steps that are too long do not blow up within "
        "a phase, but end where the linearisation does not hold"
    )
    return (
        f"Of the {total} runs with K > 1 that diverged, {at_update} did so at a feature update, with at most one step "
        f"on the new lazy problem{expected if at_update > total / 2 else ''}. "
    )


def _phases(scale: Scope, table: pd.DataFrame) -> str:
    steps, largest = scale.stability.num_steps, table.loc[np.isfinite(table["K"]), "K"].max()
    return f"""All K have as many steps, so that at {named(K=largest)} there are {steps / largest:.3g} phases in
which to diverge: what is stable there may not be so for longer."""
