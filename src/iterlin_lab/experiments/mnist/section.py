"""E-MNIST: its table and its figure."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from iterlin_lab.experiments.mnist.settings import Scope
from iterlin_lab.report.answer import Answer, Claims, sentence
from iterlin_lab.report.names import named, period_text
from iterlin_lab.report.tables import markdown_table, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """Accuracies after all steps, and how far the curves are apart."""
    table, settings = tables["mnist"], scale.mnist
    rows = pd.DataFrame(
        {
            "K": table["K"].map(period_text),
            "runs": table["runs"],
            "diverged": table["diverged"],
            "updates": table["median_feature_updates"].map("{:g}".format),
            "at the end": percent(table, "proxy_final"),
            "network": percent(table, "network_final"),
            "difference from K = 1": percent(table, "proxy_final_difference"),
            "largest gap": (100 * table["largest_gap"]).map("{:.1f}".format),
            "training accuracy after two updates": [
                "–" if pd.isna(value) else f"{100 * value:.1f}" for value in table["after_two"]
            ],
            "training accuracy at the end": (100 * table["train_accuracy"]).map("{:.1f}".format),
        }
    )
    solver = settings.solver.described(settings.learning_rate)
    stand_in = "" if settings.data.name == "mnist" else f" Here `{settings.data.name}` **stand in for MNIST**."
    return f"""## E-MNIST: every K on full batches

After W fig. 1: {solver}, for {settings.num_steps} steps on full batches of {settings.data.num_train} examples, which
are an epoch each, from `{settings.initialisation}` initialisations.{stand_in} W's η belongs to a sum over examples,
ours to their mean: a sum's would be {settings.learning_rate / settings.data.num_train:.2g}. Runs have all these steps,
whether they fit before or not.

Accuracies on the test set in percent, with 95 % t-intervals; differences are paired by run. All belong to the model
that is trained: within a phase the linearisation, and with K = 1 the network. Beside them stands the network with the
same parameters. The largest gap is the widest one between the learning curves of this K and of K = 1 at equal steps,
the mean over runs.

{markdown_table(rows)}

![Accuracy against steps for every K](figures/mnist.svg)

*Test accuracy (a) and training accuracy (b) of the model that is trained, against epochs. (c) The
differences at the end; the grey band is the range of W's text. Means over runs, and 95 % t-intervals.*"""


def answer(scale: Scope, tables: Mapping[str, pd.DataFrame], claims: Claims) -> Answer:
    """Whether a large K, with two feature updates, is enough, and whether none is."""
    table, data = tables["mnist"], scale.mnist.data
    largest = table["K"][np.isfinite(table["K"])].max()
    sentences = [
        sentence(
            "E-MNIST-2",
            claims,
            f"training with K up to {period_text(largest)} ends within 0.4 points of K = 1",
            f"Not every K up to {period_text(largest)} ends within 0.4 points of K = 1",
        ),
        sentence(
            "E-MNIST-4",
            claims,
            f"two feature updates, with {named(K=largest)}, are enough for nearly all training images",
            f"Two feature updates, with {named(K=largest)}, are not enough for nearly all training images",
            claims["E-MNIST-4"]["evidence"],
        ),
        sentence(
            "E-MNIST-5",
            claims,
            "a model without any feature update (K = ∞) ends further below K = 1",
            "A model without any feature update (K = ∞) does not end further below K = 1",
        ),
    ]
    return Answer(sentences, "", f"E-MNIST trains on {data.num_train} images of `{data.name}`, and W on all of MNIST.")
