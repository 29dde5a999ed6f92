"""E-WIDTH: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.width.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What every K reaches at every width, and how far its kernel has moved."""
    own, table = scale.width, tables["width"]
    rows = pd.DataFrame(
        {
            "channels": table["channels"],
            "K": table["K"].map(period_text),
            **outcome_columns(table),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "accuracy": percent(table, "accuracy"),
            "difference from K = 1": percent(table, "difference"),
            "kernel distance": interval_texts(table, "kernel_distance", "{:.3g}"),
        }
    )
    return f"""## E-WIDTH: E-SWEEP at several widths

T ran one width of its network, 50 channels. In the limit of infinite width the tangent kernel stays (L theorem 2), and
then no K differs from K = 1. Here both convolutions have {_listed(own.channels)} channels, and the dense layers stay as
they are. All K take {own.solver.title} with η = {own.learning_rate:g}, on full batches, from the
`{scale.net.initialisation}` initialisation. Run i has the same data at all widths, and the same initial network for all
K of a width.

Accuracies are on test data, in percent, stopped on validation data: the network's, and for K = ∞ the proxy's. The
kernel distance is 1 − cosine between the NTK at the end and at initialisation, traced over the outputs, on
{own.num_examples} training inputs; its means are geometric. Means over runs, with 95 % t-intervals.

{markdown_table(rows)}

![Accuracy, difference from K = 1 and movement of the kernel against width](figures/width.svg)

*Against the channels of both convolutions: test accuracy (a), its difference from K = 1, paired by run (b),
and the kernel distance from initialisation (c). Means over runs with 95 % t-intervals.*"""


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}"
