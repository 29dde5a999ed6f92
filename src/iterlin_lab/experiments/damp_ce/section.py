"""E-DAMPCE: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent, phase_columns

ACTS = {"always": "all", "early": "up to phase {:g}", "late": "after phase {:g}"}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs of every λ ended, and their accuracies."""
    table, own = tables["damp_ce"], scale.damp_ce
    rows = pd.DataFrame(
        {
            "λ": table["damping"].map("{:g}".format),
            "in phases": [ACTS[method].format(after) for method, after in table[["method", "after"]].to_numpy()],
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
{own.solver.described()} to ‖g‖ ≤ {own.solver.tolerance:g}·‖g_s‖ before the
network is re-linearised. The larger λ, the less each phase moves the parameters, and the more feature updates there
are. T (§6) expects damping to matter most early: two rows have λ = {float(own.switch.damping):g} in some phases,
and λ = 0 in all others. Splits and initialisations are the same as in E-SWEEP. The columns mean what they mean in the
table of E-ADAM.

{markdown_table(rows)}

{unfinished:.0%} of the runs did not fit the training set within {own.num_steps:g} steps of the solver.

![Test accuracy against the damping, against when it acts, and against K](figures/damp_ce.svg)

*Test accuracy against the damping λ (a), and against the period K of E-SWEEP from large to small (c): features are
learnt most on the right of both panels. T §4.3 asks to compare the two trends. (b) The same runs with λ = 0, with
damping after phase {own.switch.after:g} alone (late), up to phase {own.switch.after:g} alone (early), and in all; a
thin line is a run. Means over runs, and 95 % t-intervals.*"""
