"""E-FILTER and B-NTK: what the features of E-AUG's networks do along training."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.filters.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import ENDS, interval_text, interval_texts, markdown_table

QUANTITIES = {
    "fraction": ("part of training where the cosine is largest", "{:.0%}"),
    "similarity": ("the cosine there", "{:.2f}"),
    "null_largest": ("the largest one with filters permuted", "{:.2f}"),
    "size": ("length of K = 1's change there", "{:.2f}"),
    "closest_fraction": ("part of training where the two are closest", "{:.0%}"),
    "closest_distance": ("their distance there", "{:.2f}"),
    "similarity_final": ("cosine at the end", "{:.2f}"),
    "size_final": ("length of K = 1's change at the end", "{:.2f}"),
}
MEASURES = {
    "distance_ntk": "distance",
    "distance_layer1": "layer 1",
    "distance_layer2": "layer 2",
    "distance_rest": "later layers",
    "alignment": "alignment",
    "cka_layer1": "CKA, layer 1",
    "cka_layer2": "CKA, layer 2",
}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Where K = 1 resembles the end of the large K; and how far kernels move."""
    return f"""{_filters(scale, tables["filters"], tables["filters_runs"])}

{_kernels(scale, tables["kernels"])}"""


def _filters(scale: Scope, table: pd.DataFrame, runs: pd.DataFrame) -> str:
    settings, augmented = scale.filters, scale.augmentation
    large = period_text(table["K"].iloc[0])
    lost = int((runs["outcome"] == "diverged").sum())
    note = f" {lost} of the {len(runs)} runs diverged, and are left out." if lost else ""
    rows = pd.DataFrame(
        {
            "quantity": [QUANTITIES[name][0] for name in table["quantity"]],
            "mean and interval": [
                interval_text(values, QUANTITIES[name][1])
                for name, values in zip(table["quantity"], table[ENDS].to_numpy().tolist(), strict=True)
            ],
        }
    )
    return f"""## E-FILTER: first-layer filters along training

After T fig. 6, from the networks of E-AUG: the filters of the first layer minus their initial values. The change
at K = 1, all along training, is compared with the final one at K = {large} of the same run, by the
cosine of the angle between them (all filters as one vector). The null has the latter's filters in
{settings.num_permutations} random orders, and its largest cosine along training too. The cosine ignores how long the
changes are; distances do not, and like lengths are relative to the length of that final one.

K = 1 is looked at in its snapshots alone, {augmented.records_per_decade} a decade, so a part of training is known to a
factor of {10 ** (1 / augmented.records_per_decade):.2f}. Where the cosine at the end is close to the largest, the part
of training at which it is largest means little.{note}

{markdown_table(rows)}

![Change of the first filters along training](figures/filters.svg)

*Change of the first {settings.num_drawn} filters since initialisation in the first run, on one scale. Columns are
equally spaced in steps; between two snapshots a change is interpolated linearly.*

![Similarity of the change of filters along training](figures/filters_similarity.svg)

*K = 1's change and the final one of the large K: their cosine (a) and distance (b). Triangles are the largest
and the smallest of each run; the grey band holds 95 % of permutations. Means over runs, and 95 % t-intervals.*"""


def _kernels(scale: Scope, table: pd.DataFrame) -> str:
    settings = scale.filters
    rows: dict[str, pd.Series | list[str]] = {
        "K": table["K"].map(period_text),
        "runs": table["runs"],
        "diverged": table["diverged"],
    }
    for name, title in MEASURES.items():
        rows[title] = interval_texts(table, name, "{:.3f}")
    return f"""## B-NTK: kernels along training

Of the same networks, on {settings.num_examples} training inputs of each run as they are, without augmentation: the
empirical NTK, traced over the outputs. Its distance from Θ₀ at initialisation is 1 − ⟨Θ, Θ₀⟩/(‖Θ‖‖Θ₀‖), for the
whole kernel and for its parts, one for the parameters of each layer. The alignment compares the centred kernel with the
labels' (one class or not), and CKA compares the activations after pooling with the initial ones. K = 1 is measured at
{settings.kernels_per_decade} steps a decade, and the large K at every feature update that has a snapshot: with this
kernel it then trains until the next. At the end, with 95 % t-intervals:

{markdown_table(pd.DataFrame(rows))}

![Kernel distance, alignment and CKA along training](figures/kernels.svg)

*Against steps, from the first one (K = 1) or the first feature update on: distance of the NTK (a) and of its parts (b)
from initialisation, its alignment with the labels (c), and CKA of the activations (d). Means over runs, and 95 %
t-intervals.*"""
