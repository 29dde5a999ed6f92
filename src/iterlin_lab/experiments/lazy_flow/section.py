"""L-LAZY: the flow of a network against the flow of its linearisation."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.lazy_flow.settings import Scope
from iterlin_lab.report.tables import interval_texts, markdown_table


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was run, and the exponents in N by γ."""
    settings = scale.lazy_flow
    return f"""## L-LAZY: flows of f and of f_lin

L theorem 3: a network of N neurons, f = γ Σ aᵢσ(⟨wᵢ, x⟩), w ~ N(0, I/d), a = ±1 in antisymmetric pairs so that f₀ = 0,
with {settings.activation} for σ; {settings.num_train} training and {settings.num_test} test inputs x ~ N(0, I) in
d = {settings.dimension} dimensions, y = |x₁|; {settings.num_seeds} seeds. Gradient flow of the mean loss for the time
γ²Nt = {settings.duration:g} at every N and γ, in which f_lin is the same for all γ. The distance is the largest RMS
difference of f and f_lin on test inputs along the flow; the movement of the kernel is the largest ‖K_t − K₀‖/‖K₀‖
(Frobenius) on training inputs. The table has their exponents in N, from {min(settings.widths)} to
{max(settings.widths)}, with 95 % intervals over seeds.

{markdown_table(_fits(tables["lazy_flow_fits"]))}

The expected exponents are ours: at equal γ²Nt a weight moves by about 1/(γN), and what is odd in a cancels in pairs, so
that both measures go as (γN)⁻² where this is small. At γ = 1/N nothing is small, at any N: the lecture's remark that
γ ∝ 1/N is needed to stay in the kernel regime contradicts its theorem 3, and 1/N, not 1/N², is the mean-field scaling.

![Losses of the widest networks, and distances of f and f_lin against N](figures/lazy_flow.svg)

*(a) Training losses of the widest networks and of their linearisation. (b, c) Largest distance of f and
f_lin, and largest movement of the kernel. Geometric means with 95 % intervals; dotted lines, through the last points,
have the expected exponents.*"""


def _fits(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "γ": [f"N^−{exponent:g}" for exponent in table["exponent"]],
            "runs": table["runs"],
            "distance": interval_texts(table, "distance", "{:.2f}"),
            "kernel": interval_texts(table, "kernel", "{:.2f}"),
            "expected": table["predicted"].map("{:g}".format),
        }
    )
