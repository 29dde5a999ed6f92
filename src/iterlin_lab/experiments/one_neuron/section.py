"""L-RELU: its tables and its figures."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.one_neuron.settings import Scope
from iterlin_lab.report.tables import markdown_table

NAMES = {
    "one neuron": "one neuron, gradient descent",
    "RF": "kernel regression, K^RF",
    "NT": "kernel regression, K^NT",
    "lazy": "lazy training",
}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was trained, the examples that it took, and how they grow with d."""
    settings, descent = scale.one_neuron, scale.one_neuron.descent
    heights = ", ".join(f"{height:.3f}" for height in tables["one_neuron_plateaus"]["plateau"])
    return f"""## L-RELU: one ReLU neuron against kernels

The labels are y = ReLU(⟨w*, x⟩) with |w*| = 1 and x ~ N(0, I), as in theorem 4 and figure 3 of the lecture. *One
neuron* is ReLU(⟨w, x⟩) from weights of norm about {descent.initial_norm:g}, by gradient descent (K = 1) with η =
{descent.learning_rate:g} on half the mean square, for up to {descent.num_steps} steps. *Kernel regression* has the
limits K^RF and K^NT of ReLU and λ = {settings.ridge:g}. *Lazy training* (K = ∞) trains a two-layer network of
{settings.width} neurons to its end, which is regression with its tangent kernel. There are {settings.num_seeds} runs of
each d; a run has the same data for every learner and, for smaller n, the first of them.

n_ε is where the test error falls to ε = {settings.error:g} of E y² for good, between two n by a power law. To get there
kernels must learn the quadratic part of y: ‖P_{{>l}} y‖² is {heights} of it for l = 0, 1, 2. With such an ε theorem 1
has n_ε grow as d² in the limit, and with smaller ones faster. The table has geometric means over runs, and the
exponents of n_ε in d with 95 % t-intervals.

{markdown_table(_rows(tables))}

![Test error against n/d for every learner and dimension](figures/one_neuron.svg)

*Test error against examples a dimension: means and 95 % intervals over runs. Dashed are ‖P_{{>l}} y‖² for
l = 0, 1, 2. The neuron leaves its panel where it has found w*.*

![Examples that are needed against the dimension, and the error along descent](figures/one_neuron_rates.svg)

*(a) n_ε against d with 95 % intervals, and the powers d and d² (dotted). (b) The test error of every run along
gradient descent, on a logarithmic axis, where exponential convergence is a straight line.*"""


def _rows(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row a learner: n_ε for every d, and the exponent."""
    sizes = tables["one_neuron_sizes"].pivot(index="learner", columns="dimension", values="size_mean").loc[list(NAMES)]
    exponents = tables["one_neuron_exponents"].set_index("learner").loc[list(NAMES)]
    columns = {f"n_ε, d = {dimension}": _texts(sizes[dimension]) for dimension in sizes}
    return pd.DataFrame({"learner": list(NAMES.values()), **columns, "exponent of d": _exponents(exponents)})


def _exponents(exponents: pd.DataFrame) -> list[str]:
    """Means of exponents and the half widths of their intervals."""
    pairs = zip(exponents["exponent_mean"], exponents["exponent_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.2f} ± {high - mean:.2f}" for mean, high in pairs]


def _texts(values: pd.Series) -> list[str]:
    return ["–" if pd.isna(value) else f"{value:.0f}" for value in values]
