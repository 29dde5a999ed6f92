"""L-DECAY: the loss along gradient flow against its bound."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.decay.settings import Scope
from iterlin_lab.report.tables import interval_texts, markdown_table


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was run, and how trajectories keep to the bound."""
    settings = scale.decay
    return f"""## L-DECAY: the exponential bound on the loss

L lemma 1: if d(γf)/dt = −Q(t)(γf − y)/n with Q(t) ≥ nλ for all t, then L(t) ≤ L(0)e^(−2λt). For the linearised network
nλ = γ²σ_min(J₀)², with J₀ without γ; the lecture's exp(−2γ²tσ_min(J₀)) lacks the square, and has no 1/n since its loss
is a sum over examples. For the network itself nλ is the smallest γ²σ_min(J_t)² of all records. Networks and data as in
L-LAZY: N = {settings.width} neurons, d = {settings.dimension} dimensions, n examples, {settings.num_seeds} seeds. Flows
last until 2λt = {settings.horizon:g} for the λ of f_lin. The excess is the largest log L(t)/L(0) + 2λt after the start,
at most 0 if the bound holds; the rate is that over the last quarter of the time.

{markdown_table(_rows(tables["decay"]))}

![Losses against the bound, and rates against theory](figures/decay.svg)

*(a) Training loss of every trajectory against 2λt, and the bound. (b) The rate at which the loss of f_lin falls at
the end against 2σ_min(J₀)²/(nN), both in the time γ²Nt, a point a seed.*"""


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "flow of": ["f_lin" if pd.isna(p) else f"f, γ = N^−{p:g}" for p in table["exponent"]],
            "n": table["size"],
            "runs": table["runs"],
            "above the bound": table["violated"],
            "largest excess": table["largest_excess"].map("{:.2g}".format),
            "smallest λ(t)/λ(0)": table["smallest_ratio"].map("{:.3g}".format),
            "rate over 2λ": interval_texts(table, "ratio", "{:.3f}"),
        }
    )
