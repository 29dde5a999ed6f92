"""E-VIT: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.vit.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What network and proxy reach with every K, and how far the kernel has moved."""
    table, own = tables["vit"], scale.vit
    net = own.net
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            **outcome_columns(table),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "network": percent(table, "network_validation_stopped"),
            "proxy": percent(table, "proxy_validation_stopped"),
            "network at the end": percent(table, "network_final"),
            "difference from K = 1": percent(table, "accuracy_difference"),
            "kernel distance": interval_texts(table, "kernel_distance", "{:.2f}"),
        }
    )
    return f"""## E-VIT: a vision transformer

Whether large K is as good as K = 1, and K = ∞ worse, where the network is a transformer of depth {net.depth} and
width {net.width}, on patches of {net.patch}×{net.patch} pixels, with {net.heads} heads of attention and {net.hidden}
neurons in the hidden layer of a block. Gradient descent with η = {own.learning_rate:g} takes {own.num_steps} steps on
full batches of {scale.data.num_train} examples, also where a run fits before. Run i has the same data and the same
initial network for every K. Its keys come from the seed {own.seed}, which no other experiment has.

Test accuracies in percent, with 95 % t-intervals; but for those at the end, they are read at the record with the best
validation accuracy. The difference is of the model that was trained, the linear proxy for K = ∞, else the network,
paired by run. The kernel distance is 1 − cosine between the network's NTK at the end and at initialisation, traced over
the outputs, on {own.num_examples} training inputs. For K = ∞ it says how far the network has gone that nobody trains:
the kernel of the proxy does not move.

{markdown_table(rows)}

![Test accuracy of a transformer for every K, and how far its kernel moves](figures/vit.svg)

*(a) Test accuracy against steps, of the network, for K = ∞ of its proxy. (b) The difference from K = 1; the grey
band is the margin of the claim. (c) The kernel distance at the end. Means over runs, and 95 % t-intervals.*"""
