"""E-SWEEP: its table and its figures."""

import math
from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.k_sweep.claims import LARGE, LIMIT, NETWORK, PROXY
from iterlin_lab.experiments.k_sweep.settings import Scope
from iterlin_lab.report.answer import Answer, Claims, sentence
from iterlin_lab.report.names import label, named, period_text
from iterlin_lab.report.setting import caveat
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent, training_losses

HERO = """![Test accuracy against steps for every K](figures/k_sweep_curves.svg)

*Test accuracy of the network against steps (after T fig. 3), mean and 95 % interval over runs. Within a long phase the
network drifts from the proxy that is being trained, and may fall before the next feature update. The steps of TGN,
which is truncated Gauss–Newton, are its solver's.*"""


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """The table, and the figures with the error of the flow that they rest on, if it was measured."""
    return "\n\n".join([sweep(scale, tables["k_sweep"], tables["k_sweep_runs"]), figures(scale, tables)])


def answer(scale: Scope, tables: Mapping[str, pd.DataFrame], claims: Claims) -> Answer:
    """How much feature learning these networks need: up to K = 10⁴, at K = 10⁸, and without any."""
    table = tables["k_sweep"]
    frequent = table[(table["K"] > 1) & (table["K"] <= LIMIT)]
    fitted = frequent["fitted"] == frequent["runs"]
    left_out = ", ".join(named(K=K) for K in frequent["K"][~fitted])
    note = f"without {left_out}, which did not always fit in time" if left_out else ""
    sentences = [
        sentence(
            "E-SWEEP-1",
            claims,
            "up to K = 10⁴ steps between feature updates a network generalises as with K = 1, gradient descent",
            "With some K up to 10⁴ steps between feature updates the test accuracy of a network is more than a point "
            "away from that with K = 1, gradient descent",
            _against(table, frequent["K"][fitted].max(), NETWORK),
            note,
            holds="With up to K = 10⁴ steps between feature updates the test accuracy of a network is within a point "
            "of that with K = 1, gradient descent",
        ),
        sentence(
            "E-SWEEP-3",
            claims,
            "with K = 10⁸ a network generalises worse than with K = 1",
            "With K = 10⁸ the test accuracy of a network is not a point below that with K = 1",
            _against(table, LARGE, NETWORK),
            holds="With K = 10⁸ the test accuracy of a network is below that with K = 1",
        ),
        sentence(
            "E-SWEEP-6",
            claims,
            "a model without any feature update (K = ∞) generalises worse than the network with K = 1",
            "Without any feature update (K = ∞) the test accuracy of the lazy model is not a point below that of the "
            "network with K = 1",
            _against(table, math.inf, PROXY),
            holds="Without any feature update (K = ∞) the test accuracy of the lazy model is below that of the network "
            "with K = 1",
        ),
    ]
    return Answer(sentences, HERO, caveat(scale, tables["k_sweep_runs"]))


def _against(table: pd.DataFrame, K: float, column: str) -> str:
    """The accuracy of a K, with the median of its feature updates, and that of K = 1; nothing where one has none."""
    own, one = table[table["K"] == K], table[table["K"] == 1]
    if own.empty or one.empty:
        return ""
    accuracy, reference = 100 * own[f"{column}_mean"].iloc[0], 100 * one[f"{NETWORK}_mean"].iloc[0]
    if pd.isna(accuracy) or pd.isna(reference):
        return ""
    updates = f"{own['median_feature_updates'].iloc[0]:.0f}"
    return f"{accuracy:.1f} % after {updates} feature updates with {named(K=K)}, {reference:.1f} % with K = 1"


def training(scale: Scope, regime: dict) -> str:
    """Its solver and its steps, for the description of the setting."""
    sweep = scale.k_sweep
    return f", {sweep.solver.described(regime['learning_rate'])}, up to {sweep.num_steps:g} steps"


def sweep(scale: Scope, table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """How the runs of every K ended, and their accuracies."""
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            **outcome_columns(table),
            "steps": table["median_steps"].map("{:g}".format),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "evaluations": table["median_evaluations"].map("{:g}".format),
            "training loss": training_losses(table, runs, ["method", "K"]),
            "validation-stopped": percent(table, "network_validation_stopped"),
            "difference from K = 1": percent(table, "difference"),
            "test-stopped": percent(table, "network_test_stopped"),
            "at the end": percent(table, "network_final"),
            "proxy at the end": percent(table, "proxy_final"),
        }
    )
    tgn = table[table["method"] == "TGN"].iloc[0]
    certificate = f"‖g‖ ≤ {scale.tgn_baseline.solver.tolerance:g}·‖g_s‖"
    if not tgn["unsolved"]:
        baseline = (
            f"TGN is truncated Gauss–Newton: {scale.tgn_baseline.solver.described()} on each lazy problem until "
            f"{certificate}, reached in every phase. Its steps are this solver's."
        )
    else:
        baseline = (
            f"The row TGN is **not** truncated Gauss–Newton: in {tgn['unsolved']} of {tgn['runs']} runs the last lazy "
            "problem "
            f"was not solved to {certificate} within the step limit."
        )
    return f"""## E-SWEEP: accuracy against the period K

Test accuracy in percent: mean over runs and 95 % t-interval. Steps, feature updates, evaluations of
the gradient and the network's training loss at the end are medians.
*Validation-stopped* is read at the record with the best validation accuracy. *Test-stopped* is the papers' "optimal
early stopping": chosen on the test data, so it flatters. Accuracies are the network's, except in the last
column, which is the linear proxy's: for K = ∞ the proxy is the model that was trained. The difference is of
validation-stopped accuracies, paired by run. Runs that diverged have no accuracy at the end.

{markdown_table(rows)}

{baseline}"""


def figures(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """The figures, with the measured error of the flow that they rest on."""
    return f"""### Figures

The first figure of this report has the curves. Lines are means over runs, bands 95 % t-intervals. A run that has
stopped keeps its last value.
{_accuracy_of_flow(scale, tables["k_sweep_runs"], tables.get("flow_check"))}

![Test accuracy against K](figures/k_sweep_accuracy.svg)

*(a) Test accuracy against K in three readings. (b) The difference from K = 1, without K = ∞.*

![Network and linear proxy for large K](figures/k_sweep_proxy.svg)

*The network and the linear proxy that is trained in its place (after T fig. 2).*

![Distance, linearisation error and feature updates against steps](figures/k_sweep_movement.svg)

*How far the parameters move (a), how wrong the linearisation becomes (b), and how often it is renewed (c).*"""


def _accuracy_of_flow(scale: Scope, runs: pd.DataFrame, check: pd.DataFrame | None) -> str:
    if (tolerance := scale.k_sweep.solver.flow_tolerance) is None:
        return ""
    (worst,) = runs.nlargest(1, "error_estimate").to_dict("records")
    own = f"By its own estimate it is off by up to {worst['error_estimate']:.0%} of the path, with {label(worst['K'])}."
    if check is None:
        return f"All K but TGN follow the gradient flow with the tolerance {tolerance:g}. {own}"
    errors = check[check["tolerance"] == tolerance].groupby("model")["error"].max()
    found = " and ".join(f"{error:.1%} ({model})" for model, error in errors.items())
    measured = f"its outputs were off by up to {found} of their movement" if found else "its error was not measured"
    return f"""All K but TGN follow the gradient flow with the tolerance {tolerance:g}: against
{check["steps"].max():g} explicit steps (the last section) {measured}. {own}"""
