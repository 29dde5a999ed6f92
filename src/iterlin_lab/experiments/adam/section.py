"""E-ADAM: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.adam.settings import Scope
from iterlin_lab.experiments.adam.table import TUNED
from iterlin_lab.report.names import named, period_text
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent, phase_columns
from iterlin_lab.settings import parse_period

METHODS = {
    "gradient": "E-SWEEP",
    "descent": "gradient descent",
    "Adam": "Adam",
    "kept": "Adam, momenta kept",
}


def _name(row: dict) -> str:
    if row["method"] in METHODS:
        chosen = row["method"] in TUNED and row["K"] == 1 and row["chosen"]
        numbers = named(K=row["K"], learning_rate=row["learning_rate"])
        return f"{METHODS[row['method']]}, {numbers}" + (", **chosen**" if chosen else "")
    return f"to ‖g‖ ≤ {row['tolerance']:g}·‖g_s‖, Newton–CG"


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs ended, how well their lazy problems were solved, and their accuracies."""
    table = tables["adam"]
    rows = pd.DataFrame(
        {
            "lazy problems": [_name(row) for row in table.to_dict("records")],
            **outcome_columns(table),
            "steps": table["median_steps"].map("{:g}".format),
            "evaluations": table["median_evaluations"].map("{:g}".format),
            **phase_columns(table),
            "validation": percent(table, "validation"),
            "at the end": percent(table, "network_final"),
            "validation-stopped": percent(table, "network_validation_stopped"),
            "difference from descent": percent(table, "difference"),
        }
    )
    large = period_text(parse_period(scale.adam.solved.period))
    return f"""## E-ADAM: lazy problems that are solved

After T fig. 8: Adam takes K = {large} steps on every lazy problem, which is meant to solve it; T's K is 2·10⁵. Its
momenta start anew with every lazy problem, or are kept. Beside it are gradient descent and Adam with K = 1, in
explicit steps with several η, and K = 1 of E-SWEEP. *Chosen* is the η with the best mean accuracy on validation data,
each run at its best record (the column *validation*): the smaller η if two are equal, and none with which a run
diverged. Newton's method by conjugate gradients works on lazy problems until the gradient has shrunk by the tolerance
β: the result may depend on what "solved" means, since cross-entropy has no minimiser once the proxy separates the
classes.

Accuracies are in percent, with 95 % t-intervals. *At the end* is what the claims compare, each run with the same run
of gradient descent with the chosen η; the difference from that in the last column is of validation-stopped accuracies.
The certificate ‖g‖/‖g_s‖ says how well the lazy problem is solved at the end of a phase, on all training data; *proxy*
is the lowest accuracy of the linear proxy on the training set at the end of any phase of any run. Steps, evaluations
of the gradient (or products with the Gauss–Newton matrix, which cost as much) and phases are medians.

{markdown_table(rows)}

{_solved(large, table)}

![Test accuracy with solved lazy problems](figures/adam.svg)

*(a) Test accuracy against evaluations of the gradient. (b) Accuracy on the training set of the network and of its
linear proxy for large K with Adam; every {large} steps the network is re-linearised. (c) Test accuracy at the end, with
the tolerance β to which Newton's method solves lazy problems. Means over runs, and 95 %
t-intervals. Of the grids of η, the chosen ones are drawn.*"""


def _solved(large: str, table: pd.DataFrame) -> str:
    (row,) = table[(table["method"] == "Adam") & (table["K"] > 1)].to_dict("records")
    if pd.isna(row["recorded"]):
        return f"With K = {large} no phase came to its end."
    if row["recorded"] == 1 and row["proxy_train_accuracy_lowest"] == 1:
        return f"""With K = {large} the proxy classified the whole training set correctly at the end of every phase of
every run, and its gradient had shrunk to at most {row["certificate_largest"]:.1g} of what it was."""
    if row["recorded"] < 1:
        return f"""Of the phases with K = {large} only {row["recorded"]:.0%} were recorded at their ends: whether all
were solved is **not known**."""
    return f"""With K = {large} the lazy problems were **not** all solved: the proxy was down to
{row["proxy_train_accuracy_lowest"]:.1%} on the training set at the end of a phase."""
