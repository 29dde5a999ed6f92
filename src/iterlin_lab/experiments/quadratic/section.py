"""E-QUAD: its tables and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.quadratic.settings import NETWORK, Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import interval_texts, markdown_table, outcome_columns, percent
from iterlin_lab.tables import groups

MODELS = {NETWORK: "network", 1: "linear", 2: "quadratic"}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What each model reaches, and how far the expansions are from the network after K steps."""
    own, table = scale.quadratic, tables["quadratic"]
    reached = pd.DataFrame(
        {
            "model": table["order"].map(MODELS),
            **outcome_columns(table),
            "validation-stopped": percent(table, "accuracy"),
            "at the end": percent(table, "accuracy_final"),
        }
    )
    return f"""## E-QUAD: the quadratic expansion

The linear proxy is the first-order Taylor expansion of the network in its parameters. Here the second-order one stands
beside it (Bai et al. 2020). Each model is trained by itself from the same initial network (`{own.initialisation}`) and
on the same data, by {own.solver.title} for {own.num_steps:g} steps with η = {own.learning_rate:g}, without any feature
update. So the outputs after K steps are those at the end of a first phase of K steps. Keys come from the seed
{own.seed}, which no other experiment has.

The distance is ‖f_i(θ_i) − f(θ)‖/‖f(θ) − f(θ₀)‖, with the outputs of the expansion of order i and of the network after
as many steps, on {own.num_examples} examples. It is 1 where an expansion is as far from the network as the network is
from its start. A network of ReLUs is a polynomial in its parameters as long as the same ReLUs are active; no expansion
sees what happens at their kinks.

{markdown_table(reached)}

{markdown_table(_along(tables["quadratic_distances"]))}

*Geometric means over runs of the distance on test data at powers of ten, with 95 % intervals.*

![Distance of the linear and of the quadratic expansion from the network](figures/quadratic.svg)

*(a, b) How far a phase of K steps ends from the network, on training and on test data; geometric means over
runs, and 95 % intervals. (c) Validation-stopped test accuracy of each model, never updated.*"""


def _along(distances: pd.DataFrame) -> pd.DataFrame:
    """A row a power of ten, a column an order."""
    kept = distances[[f"{step:.0e}".startswith("1e") and step == float(f"{step:.0e}") for step in distances["step"]]]
    columns = {"K": [period_text(step) for step in kept["step"].drop_duplicates()]}
    for row, rows in groups(kept, ["order"]):
        columns[MODELS[row["order"]]] = interval_texts(rows, "test_distance", "{:.2g}")
    return pd.DataFrame(columns)
