"""E-XOR: a table over both dials, and the figures."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.xor.settings import Scope
from iterlin_lab.report.names import row_name
from iterlin_lab.report.tables import markdown_table, outcome_columns, percent


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was run, how every cell ended, the features and their alignment."""
    settings, table = scale.xor, tables["xor"]
    return f"""## E-XOR: the features along K and along λ

T fig. 7: x = z + ε with z uniform on {{±1}}² and ε ~ N(0, {settings.noise_variance:g}·I), y = x₁x₂ of the noisy x;
{settings.num_train} training and {settings.num_test} test examples, drawn anew for each run. The network is
w₂σ(w₁ᵀx + b) with {settings.width} ReLU neurons, zero biases and He-normal weights times {settings.initial_scale:g}.
The loss is the squared error. Each run has the same data and the same initialisation in all cells. Two dials:

- **K**: gradient descent with η = {settings.learning_rate:g}, re-linearised every K steps. {_solvers(scale)}
- **λ**: one damped Gauss–Newton step an update (T eq. 10), θ ← θ − (φᵀφ + 2nλI)⁻¹φᵀr, solved exactly.

A run ends once its training loss, half the mean squared error, is at most {settings.fit_loss:g}. The alignment of a
neuron is a(w) = max_c cos(w, c) over c ∈ {{±1}}² (T eq. 11), with w its first-layer row; the table has the mean over
neurons, then over runs, with 95 % t-intervals. Random directions have (4/π)·sin 45° = 0.900 on average.
{_no_direction(table)}Accuracies (in percent, by the sign) and errors are the network's on test data; runs
that diverged have none. For K = ∞ it is the linear proxy that was trained, and the network with its parameters is not
expected to fit.

{markdown_table(_rows(table))}

![First-layer features and their alignment along both dials](figures/xor_features.svg)

*First-layer rows, coloured by output weight, and below the histogram of their alignments (after T fig. 7), of the
first run: for several K, and for several λ. Grey lines are the directions of the clusters; black steps are what random
directions would give. Axes differ between panels; colours saturate at the same weight in all.*

![Mean alignment and accuracy against K and against λ](figures/xor_alignment.svg)

*Mean alignment (a, b) and test accuracy (c, d) against both dials, with 95 % intervals over runs. To the right there
is less feature learning: K rises and λ falls.*

![Alignment against distance for both dials](figures/xor_dials.svg)

*Are K and λ the same dial? Mean alignment against the distance from the initialisation. Where the two lines coincide,
a K and a λ lead to networks that are equally far from where they began, and whose features are equally aligned.*"""


def _solvers(scale: Scope) -> str:
    settings = scale.xor
    return f"""Up to K = {settings.explicit_up_to} these are
  explicit steps; each longer phase is computed in closed form, as so many steps would end."""


def _no_direction(table: pd.DataFrame) -> str:
    count = int(table["no_direction"].sum())
    return f"{count} neurons with w = 0 have none, and are left out. " if count else ""


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    T = table["lambda_of_T"]
    rmse = (f"{value:.3f}" for value in table["network_test_rmse_mean"])
    return pd.DataFrame(
        {
            "cell": [row_name(row) for row in table.to_dict("records")],
            "λ of T": ["" if pd.isna(value) else f"{value:g}" for value in T],
            **outcome_columns(table),
            "steps": table["median_steps"].map("{:g}".format),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "alignment": _alignment(table),
            "accuracy": percent(table, "network_test_accuracy"),
            "accuracy of the proxy": percent(table, "proxy_test_accuracy"),
            "test RMSE": list(rmse),
            "‖θ − θ₀‖": table["distance_mean"].map("{:.3g}".format),
        }
    )


def _alignment(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["alignment_mean"], table["alignment_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.3f} ± {high - mean:.3f}" for mean, high in pairs]
