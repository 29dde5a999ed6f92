"""E-PROBE: its table and its figure, and what it answers together with E-AUG, whose networks it probes."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.probes.claims import LAST
from iterlin_lab.experiments.probes.settings import Scope
from iterlin_lab.report.answer import Answer, Claims, sentence
from iterlin_lab.report.names import named, period_text
from iterlin_lab.report.setting import caveat
from iterlin_lab.report.tables import markdown_table, percent


def answer(scale: Scope, tables: Mapping[str, pd.DataFrame], claims: Claims) -> Answer:
    """Whether a few feature updates reach what one at every step does, and teach the same features."""
    networks, probes = tables["augmentation"], tables["probes"]
    large, updates = networks.sort_values("K")[["K", "median_feature_updates"]].to_numpy(float)[-1].tolist()
    few = f"{updates:g} feature updates"
    sentences = [
        sentence(
            "E-AUG-1",
            claims,
            f"{few} reach the test accuracy of K = 1 to within a point",
            f"With augmentation {few} do not reach the test accuracy of K = 1 to within a point",
            _both(networks, "network_final_mean", large),
            holds=f"With augmentation {few} reach the test accuracy of K = 1 to within a point",
        ),
        sentence(
            "E-PROBE-1",
            claims,
            f"features improve more slowly with {named(K=large)} than with K = 1",
            f"Features do not improve more slowly with {named(K=large)} than with K = 1",
        ),
        sentence(
            "E-PROBE-2",
            claims,
            f"with {named(K=large)} a linear probe ends at a lower accuracy than with K = 1",
            f"With {named(K=large)} a linear probe does not end at a lower accuracy than with K = 1",
            _both(probes[probes["layer"] == int(LAST.removeprefix("layer"))], "final_mean", large),
        ),
    ]
    return Answer(sentences, "", caveat(scale))


def _both(table: pd.DataFrame, name: str, large: float) -> str:
    """What is reached with the large K and with K = 1; nothing where one of them has no run."""
    reached = table.set_index("K")[name].reindex([large, 1])
    texts = [f"{value:.1%} with {named(K=K)}".replace("%", " %") for K, value in zip((large, 1), reached, strict=True)]
    return "" if reached.isna().any() else ", ".join(texts)


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How well classes are told apart linearly in each layer: at the start, after a feature update, and at the end."""
    table, settings = tables["probes"].sort_values("layer", kind="stable"), scale.probes
    alone = table["K"] == 1  # which is not compared with itself
    rows = pd.DataFrame(
        {
            "layer": table["layer"],
            "K": table["K"].map(period_text),
            "runs": table["runs"],
            "diverged": table["diverged"],
            "at the start": percent(table, "start"),
            "after one update": percent(table, "first"),
            "at the end": percent(table, "final"),
            "difference from K = 1": _but(alone, percent(table, "difference")),
            "steps to halfway, × K = 1": _but(alone, _factors(table)),
            "K = 1 is there after (%)": _but(alone, percent(table, "fraction")),
        }
    )
    return f"""## E-PROBE: what linear probes find in the layers

After T fig. 5: multinomial logistic regression on what leaves the first and the second layer (a LeNet's, after
pooling), of the networks that E-AUG trains: at step t the network with the parameters of that step, in the middle of a
lazy phase too. Activations are standardised. A probe sees the training images of its run as they are, and minimises its
mean cross-entropy + λ/2 ‖W‖², with the λ of {_list(settings.strengths)} that has the best validation accuracy (the
largest of several). It is the first or the last of these in {_share(table, "at_end")} of all probes. A probe has
converged once no component of the gradient exceeds {settings.tolerance:g}, which {_share(table, "converged")} did with
every λ.

Test accuracies in percent, with 95 % t-intervals over runs. Halfway is the accuracy in the middle between the start and
the end of this K: K = 1 reaches it that many times sooner (geometric mean, runs that gained nothing left out). The last
column is the part of training after which K = 1 has the final accuracy of this K; a run in which it does not reach it
counts as 100 %.

{markdown_table(rows)}

![Test accuracy of linear probes during training](figures/probes.svg)

*Test accuracy of linear probes of layer 1 (a) and layer 2 (b). Dotted: where it ends. Means over runs, and 95 %
t-intervals.*"""


def _but(alone: pd.Series, texts: list[str]) -> list[str]:
    return ["–" if left_out else text for left_out, text in zip(alone, texts, strict=True)]


def _factors(table: pd.DataFrame) -> list[str]:
    columns = (table[f"delay_{part}"] for part in ("mean", "low", "high"))
    return [
        "–" if pd.isna(mean) else f"{mean:.2f} ({low:.2f} to {high:.2f})"
        for mean, low, high in zip(*columns, strict=True)
    ]


def _list(strengths: list[float]) -> str:
    return ", ".join(f"{strength:g}" for strength in sorted(strengths))


def _share(table: pd.DataFrame, name: str) -> str:
    return f"{table[name].mean():.1%}"
