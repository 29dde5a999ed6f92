"""Runs that left every bound."""

import pandas as pd

from iterlin_lab.report.tables import NAMES


def diverged(table: pd.DataFrame) -> list[str]:
    """Where each of them ended, and why; nothing if there are none."""
    if table.empty:
        return []
    rows = pd.DataFrame(
        {
            "K": [NAMES.get(cell, cell) for cell in table["cell"]],
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
