"""E-AUG: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.augmentation.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table, percent

ALIKE = {"flips_and_crops": "mirrored and shifted by up to 4 pixels", "shifts": "shifted by up to a pixel"}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Accuracies after all steps, of the network and of its proxy."""
    table, settings = tables["augmentation"], scale.augmentation
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            "runs": table["runs"],
            "diverged": table["diverged"],
            "updates": table["median_feature_updates"].map("{:g}".format),
            "at the end": percent(table, "network_final"),
            "proxy at the end": percent(table, "proxy_final"),
            "difference from K = 1": percent(table, "network_final_difference"),
        }
    )
    return f"""## E-AUG: a dozen feature updates with augmentation

After T fig. 2: {settings.num_steps} steps with η = {settings.learning_rate:g} on mini-batches of {settings.batch_size}.
Every image is {ALIKE[settings.augmentation]} at random, anew at every step. The linearisation is fixed for K
steps, its inputs are not: step t trains f_lin(θ, a_t(x)), expanded about θ_s at the very inputs a_t(x). Runs have all
these steps, whether they fit before or not; accuracies are measured on images as they are.

Test accuracies after all steps in percent, with 95 % t-intervals; the difference is the networks', paired by run.

{markdown_table(rows)}

![Test accuracy with augmentation](figures/augmentation.svg)

*Test accuracy of the network and of the linear proxy that is trained in its place. Means over runs, and 95 %
t-intervals.*"""
