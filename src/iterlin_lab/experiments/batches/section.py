"""E-BATCH: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.batches.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Accuracies after all steps, and how far the curves of mini-batches are from the curves of full ones."""
    table, settings = tables["batches"], scale.batches
    rows = pd.DataFrame(
        {
            "batches": table["method"],
            "K of full batches": table["K"].map(period_text),
            "runs": table["runs"],
            "diverged": table["diverged"],
            "steps": table["median_steps"].map("{:g}".format),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "at the end": percent(table, "network_final"),
            "difference from K = 1": percent(table, "network_final_difference"),
            "largest gap": [f"{100 * gap:.1f}" if pd.notna(gap) else "–" for gap in table["largest_gap"]],
        }
    )
    return f"""## E-BATCH: full batches against mini-batches

After T fig. 11: {settings.num_steps} steps on full batches with η = {settings.learning_rate:g}, and
{settings.ratio} times as many on mini-batches of {settings.batch_size} with
η = {settings.learning_rate / settings.ratio:g} and {settings.ratio} times as large K, so that ηt and ηK are the same.
K = 1 is gradient descent in both. Runs have all these steps, whether they fit before or not.

Test accuracies after all steps in percent, with 95 % t-intervals; differences from K = 1 on the same kind of batches,
paired by run. The largest gap is the widest one between the learning curves on mini-batches and on full batches
at equal ηt, the mean over runs.

{markdown_table(rows)}

![Test accuracy on full batches and on mini-batches](figures/batches.svg)

*Test accuracy on full batches (a), on mini-batches (b), and both at equal times (c); mini-batches have
{settings.ratio} times the K of their colour. Means over runs, and 95 % t-intervals.*"""
