"""E-ADAPT: its tables and its figure."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from iterlin_lab.experiments.adapt.settings import Scope
from iterlin_lab.report.names import named
from iterlin_lab.report.tables import diverging_columns, markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What every K and schedule reaches, and what that costs; and which of them diverge on the grid."""
    own, table, grid = scale.adapt, tables["adapt"], tables["adapt_grid"]
    damped = own.damped
    rows = pd.DataFrame(
        {
            "when": _names(table),
            **outcome_columns(table),
            "feature updates": table["median_feature_updates"].map("{:g}".format),
            "evaluations": table["median_evaluations"].map("{:g}".format),
            "validation-stopped": percent(table, "network_validation_stopped"),
            "at equal updates": _against(table, "feature_updates"),
            "at equal evaluations": _against(table, "evaluations"),
        }
    )
    pairs = pd.DataFrame(
        {"η": grid["learning_rate"].map("{:g}".format), "when": _names(grid), **outcome_columns(grid)}
        | diverging_columns(grid)
    )
    described = "\n".join(f"- `{name}`: {schedule.described()}" for name, schedule in own.schedules.items())
    return f"""## E-ADAPT: when to re-linearise

The sources leave it to future work to update features when the expansion has become wrong, and not every K steps. Of
these schedules the first three do, and the last two see nothing of the network:

{described}

The first three look at the network after every few steps of the solver, and end a phase once what they see is above
their bound. f_s is the network at the start of a phase, and ρ is the decrease of its training loss since then, over the
decrease that the proxy has. Run i has the same data and the same
`{own.initialisation}` initialisation under every schedule, with keys from the seed {own.seed}, which no other
experiment has. Runs are trained by {own.solver.title} up to {own.num_steps:g} steps with η = {own.learning_rate:g},
until the training set is fitted.

Beside them, `damped` is truncated Gauss–Newton by {damped.solver.title}: every damped lazy problem is solved before the
features are updated. Its λ is {damped.damping:g} at first. It is multiplied by {damped.change:g} after a phase with
ρ < ¼ and divided by it after one with ρ > ¾, and a phase that ends with a higher training loss is taken back.

Numbers of feature updates and evaluations are medians; accuracies are in percent, with 95 % t-intervals. *At equal
updates* is the accuracy minus that of fixed K of the same run, interpolated between them at as many feature updates,
and *at equal evaluations* at as many evaluations of the gradient. Evaluations leave out what a schedule spends on
looking.

{markdown_table(rows)}

![Test accuracy, feature updates and evaluations of every K and schedule](figures/adapt.svg)

*Test accuracy (a), feature updates (b) and evaluations (c) of every fixed K (circles) and schedule
(diamonds). Means over runs of accuracies and geometric means of costs, with 95 % t-intervals.*

**Which η diverge.** Explicit steps on full batches with every η and K, and with a schedule that watches the
linearisation error as `error` does, with the bound {own.grid.watching.bound:g}, and looks at it each time that
{own.grid.watching.every:g} more steps are done. They start from the `{scale.net.initialisation}` initialisation. The
share is of runs that diverged within {own.grid.num_steps:g} steps, in percent with its exact 95 % interval, and the
accuracy is the median test accuracy of the others at the end.

{markdown_table(pairs)}"""


def _names(table: pd.DataFrame) -> list[str]:
    """K, or the name of the schedule."""
    return [method if np.isnan(K) else named(K=K) for method, K in table[["method", "K"]].to_numpy()]


def _against(table: pd.DataFrame, cost: str) -> list[str]:
    """Differences from fixed K, which have none from themselves."""
    found = percent(table, f"at_equal_{cost}")
    return [text if np.isnan(K) else "–" for text, K in zip(found, table["K"], strict=True)]
