"""E-DAMPCE: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent, phase_columns


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs of every λ ended, and their accuracies."""
    table = tables["damp_ce"]
    rows = pd.DataFrame(
        {
            "λ": table["damping"].map("{:g}".format),
            **outcome_columns(table),
            "evaluations": table["median_evaluations"].map("{:g}".format),
            **phase_columns(table),
            "at the end": percent(table, "network_final"),
            "validation-stopped": percent(table, "network_validation_stopped"),
            "difference from K = 1": percent(table, "difference"),
        }
    )
    unfinished = 1 - table["fitted"].sum() / table["runs"].sum()
    return f"""## E-DAMPCE: damping in place of a small K

After T fig. 9 (bottom): every lazy problem is cross-entropy + λ‖θ − θ_s‖², with the mean over examples. It is solved by
{scale.damp_ce.solver.described()} to ‖g‖ ≤ {scale.damp_ce.solver.tolerance:g}·‖g_s‖ before the
network is re-linearised. The larger λ, the less each phase moves the parameters, and the more feature updates there
are. Splits and initialisations are the same as in E-SWEEP. The columns mean what they mean in the table of E-ADAM.

{markdown_table(rows)}

{unfinished:.0%} of the runs did not fit the training set within {scale.damp_ce.num_steps:g} steps of the solver.

![Test accuracy against K and against the damping](figures/damp_ce.svg)

*Test accuracy against the period K of E-SWEEP (left) and against the damping λ (right, from large to small), on one
axis: features are learnt most on the left of each panel. T §4.3 asks to compare the two trends. Means over runs, and
95 % t-intervals.*"""
