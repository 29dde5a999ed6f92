"""E-WIDTH: its table and its figure."""

import math
from collections.abc import Callable, Mapping

import pandas as pd

from iterlin_lab.experiments.width.claims import LARGE
from iterlin_lab.experiments.width.settings import Scope
from iterlin_lab.report.answer import Answer, Claims, sentence
from iterlin_lab.report.names import period_text
from iterlin_lab.report.setting import caveat
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent, training_losses


def answer(scale: Scope, tables: Mapping[str, pd.DataFrame], claims: Claims) -> Answer:
    """Whether what the largest widths need is what narrow networks need."""
    table = tables["width"]
    sentences = [
        sentence(
            "E-WIDTH-1",
            claims,
            "the tangent kernel of a wider network moves less while K = 1 fits",
            "The wider a network is, the more its tangent kernel moves while K = 1 fits",
            _ends(table, 1, "kernel_distance", lambda value: f"kernel distance {value:.2g}"),
            holds="The wider a network is, the less its tangent kernel moves while K = 1 fits",
        ),
        sentence(
            "E-WIDTH-2",
            claims,
            "a model without any feature update (K = ∞) comes nearer to K = 1 as the network gets wider",
            "The wider a network is, the further a model without any feature update (K = ∞) falls below K = 1",
            _ends(table, math.inf, "difference", _points),
            holds="The wider a network is, the nearer a model without any feature update (K = ∞) comes to K = 1",
        ),
        sentence(
            "E-WIDTH-3",
            claims,
            "what K = 10⁸ changes against K = 1 is the same at all widths",
            "What K = 10⁸ changes against K = 1 depends on width, by more than a point per doubling",
            _ends(table, LARGE, "difference", _points),
            holds="What K = 10⁸ changes against K = 1 is the same at all widths, to a point per doubling",
        ),
    ]
    return Answer(sentences, "", caveat(scale, tables["width_runs"]))


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points"


def _ends(table: pd.DataFrame, K: float, name: str, text: Callable[[float], str]) -> str:
    """What a K has at the smallest and at the largest width; nothing where it was not run."""
    own = table[table["K"] == K].dropna(subset=f"{name}_mean").sort_values("channels")
    ends = own.iloc[[0, -1]].to_dict("records") if len(own) else []
    return ", ".join(f"{text(row[f'{name}_mean'])} with {row['channels']} channels" for row in ends)


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What every K reaches at every width, and how far its kernel has moved."""
    own, table = scale.width, tables["width"]
    rows = pd.DataFrame(
        {
            "channels": table["channels"],
            "K": table["K"].map(period_text),
            **outcome_columns(table),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "training loss": training_losses(table, tables["width_runs"], ["channels", "K"]),
            "accuracy": percent(table, "accuracy"),
            "difference from K = 1": percent(table, "difference"),
            "kernel distance": interval_texts(table, "kernel_distance", "{:.3g}"),
        }
    )
    return f"""## E-WIDTH: E-SWEEP at several widths

T ran one width of its network, 50 channels. In the limit of infinite width a network trains as its linearisation does
(L theorem 3), so that no K differs from K = 1. Here both convolutions have {_listed(own.channels)} channels. The dense
layers stay as they are, as in scaled-down copies of T's network: a test of channels, and not of that limit. All K take
{own.solver.title} with η = {own.learning_rate:g}, on full batches, from the `{scale.net.initialisation}`
initialisation. Run i has the same data at all widths, and the same initial network for all K of a width.

Accuracies are on test data, in percent, stopped on validation data: the network's, and for K = ∞ the proxy's. The
kernel distance is 1 − cosine between the NTK at the end and at initialisation, traced over the outputs, on
{own.num_examples} training inputs; its means are geometric. Means over runs, with 95 % t-intervals; feature updates,
and the network's training loss at the end, are medians.

{markdown_table(rows)}

![Accuracy, difference from K = 1 and movement of the kernel against width](figures/width.svg)

*Against the channels of both convolutions: test accuracy (a), its difference from K = 1, paired by run (b),
and the kernel distance from initialisation (c). Means over runs with 95 % t-intervals.*"""


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}"
