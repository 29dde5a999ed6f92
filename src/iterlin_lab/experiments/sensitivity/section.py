"""Around E-SWEEP: other learning rates and initialisations, and the runs that left every bound."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.sensitivity.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Both."""
    return "\n\n".join([sensitivity(scale, tables["sensitivity"]), *diverged(tables["diverged"])])


def sensitivity(scale: Scope, table: pd.DataFrame) -> str:
    """Other learning rates, and another initialisation."""
    rows = pd.DataFrame(
        {
            "setting": variants(table),
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

The same {scale.sensitivity.num_seeds} runs with another setting. A multiple of η is taken by steps of gradient descent,
with K and the number of steps divided by the multiple, so that ηK stays. An initialisation changes nothing else:
`pytorch` draws smaller weights, and biases too, and starts on a plateau.

{markdown_table(rows)}

![Accuracy with other settings](figures/sensitivity.svg)

*Validation-stopped test accuracy with the sweep's own setting, and with one thing changed.*"""


def variants(table: pd.DataFrame) -> list[str]:
    """What is changed in the sweep, a text a row."""
    own = table["initialisation"].iloc[0]
    rows = zip(table["factor"], table["initialisation"], strict=True)
    return [f"η × {factor:g}" if factor != 1 else ("the sweep's" if name == own else name) for factor, name in rows]


def diverged(table: pd.DataFrame) -> list[str]:
    """Where each of them ended, and why; nothing if there are none."""
    if table.empty:
        return []
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            "η ×": table["factor"].map("{:g}".format),
            "initialisation": table["initialisation"],
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
