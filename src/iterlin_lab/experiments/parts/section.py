"""E-PART: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.parts.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What every part reaches with every K, and how far that is from all layers and from K = 1."""
    table, settings = tables["parts"], scale.parts
    rows = pd.DataFrame(
        {
            "layers": table["layers"].map("{:g}".format),
            "trained": table["trained_parameters"].map("{:g}".format),
            "share": (100 * table["share"]).map("{:.1f} %".format),
            "K": table["K"].map(period_text),
            **outcome_columns(table),
            "validation-stopped": percent(table, "accuracy"),
            "difference from all layers": percent(table, "difference"),
            "gain of K = 1": percent(table, "gain"),
            "training loss": interval_texts(table, "loss", "{:.2g}"),
        }
    )
    solver = settings.solver.title + (" for the time of" if settings.solver.flow_tolerance else ",")
    return f"""## E-PART: training a part of the network

The last layers alone are linearised and trained, as many as the first column says; all others keep their initial
values. They are trained by {solver} up to {settings.num_steps:g} steps with η = {settings.learning_rate:g}. Run i has
the same data and the same initial network for every part and K. Its keys come from the seed {settings.seed}, which no
other experiment has: no claim rests on runs of all layers that were seen before it was made. The last layer alone makes
a model that is linear in what is trained, so that there all K are the same.

Test accuracies in percent, with 95 % t-intervals, of the model that was trained: the linear proxy for K = ∞, else the
network. They are read at the record with the best validation accuracy, and the loss at the end, on the training set.
Differences are paired by run: from all {table["layers"].max():g} layers at the same K, and of K = 1 from this K on the
same layers. *Trained* is how many of the {table["parameters"].max():g} parameters are. K = ∞ is not expected to fit:
the network, which decides that, is not what is trained.

{markdown_table(rows)}

![Test accuracy against the share of the parameters that is trained](figures/parts.svg)

*Test accuracy against the share of the parameters that is trained, on a logarithmic axis, for every K. Means over runs,
and 95 % t-intervals; points at the same share are drawn side by side.*"""
