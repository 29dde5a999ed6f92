"""Around E-SWEEP: other learning rates, and the runs that left every bound."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.sensitivity.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Both."""
    return "\n\n".join([sensitivity(scale, tables["sensitivity"]), *diverged(tables["diverged"])])


def sensitivity(scale: Scope, table: pd.DataFrame) -> str:
    """Other learning rates."""
    rows = pd.DataFrame(
        {
            "η ×": table["factor"].map("{:g}".format),
            "K": table["K"].map(period_text),
            "runs": table["runs"],
            "fitted": table["fitted"],
            "diverged": table["diverged"],
            "updates": table["median_feature_updates"].map("{:g}".format),
            "validation-stopped": percent(table, "network_validation_stopped"),
            "difference from K = 1": percent(table, "difference"),
        }
    )
    return f"""## Around the setting

The same {scale.sensitivity.num_seeds} runs by gradient descent at multiples of η, with K and the number of steps
divided by the multiple, so that ηK stays; the rows η × 1 are the sweep's own.

{markdown_table(rows)}

![Accuracy at multiples of the learning rate](figures/sensitivity.svg)

*Validation-stopped test accuracy at multiples of the learning rate.*"""


def diverged(table: pd.DataFrame) -> list[str]:
    """Where each of them ended, and why; nothing if there are none."""
    if table.empty:
        return []
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            "η ×": table["factor"].map("{:g}".format),
            "run": table["run"],
            "step": table["steps"],
            "last finite record": ["none" if pd.isna(step) else f"{step:g}" for step in table["last_finite_step"]],
            "likely cause": table["cause"],
        }
    )
    return [
        f"""## Runs that diverged

The step is the last that was taken, and the last finite record the last one whose losses are all finite. The cause is
measured at the end of the run: ηλ_max of the lazy problem on which it failed, or of the network at initialisation.

{rows.to_markdown(index=False, disable_numparse=True)}"""
    ]
