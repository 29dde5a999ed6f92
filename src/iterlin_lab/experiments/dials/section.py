"""E-DIALS: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.dials.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What every value of every dial reaches, and how far its kernel has moved."""
    table, own = tables["dials"], scale.dials
    rows = pd.DataFrame(
        {
            "dial": [
                f"{dial} = {period_text(value) if dial == 'K' else f'{value:g}'}" for dial, value in _settings(table)
            ],
            **outcome_columns(table),
            "accuracy": percent(table, "accuracy"),
            "kernel distance": interval_texts(table, "kernel_distance", "{:.3f}"),
            "alignment": interval_texts(table, "alignment", "{:.2f}"),
            "at equal movement": percent(table, "at_equal_movement"),
            "compared": table["compared"],
        }
    )
    flow = own.flow
    return f"""## E-DIALS: one map of dials

K is one dial of laziness among several. Here five are turned, each by itself, and what they leave is drawn over how far
they have let the tangent kernel move. If all of them act through that one measure, their points lie on one curve.

- **K**: the features are updated every K steps of {flow.solver.title} with η = {flow.learning_rate:g}.
- **λ**: damped lazy problems, each solved by {own.certified.solver.title} before the features are updated.
- **α**: K = 1 with the outputs α(f − f₀), where f₀ is the network at the start, and η/α².
- **width**: K = 1 with so many times as many channels and neurons in every layer but the last.
- **η**: explicit steps with K = 1, at most {own.explicit.num_steps:g} of them.

All start from the `{scale.net.initialisation}` initialisation, on full batches, and end once the training loss is below
{scale.training.fit_loss}. Run i has the same data in all settings and, but for other widths, the same initial network.
Keys come from the seed {own.seed}, which no other experiment has.

Accuracies are on test data, in percent, at the end of runs that have fitted. The kernel distance is 1 − cosine between
the NTK at the end and at initialisation, traced over the outputs, on {own.num_examples} training inputs; the alignment
is the centred one of the NTK at the end with the kernel of the labels. For K = ∞ both are of the proxy, whose kernel
stays. *At equal movement* is the accuracy minus that of K in the same draw, interpolated between K at the same kernel
distance; *compared* says how many runs have one. Means over runs, with 95 % t-intervals.

{markdown_table(rows)}

![Test accuracy over the movement of the kernel, for five dials](figures/dials.svg)

*Test accuracy over the kernel distance from initialisation (a), and over the kernel's alignment with the labels
(b). A point is a value of a dial: means over runs with 95 % t-intervals. K is joined by a line.*"""


def _settings(table: pd.DataFrame) -> list[tuple[str, float]]:
    return list(zip(table["dial"], table["value"], strict=True))
