"""L-KERNEL: its tables and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.kernel_limit.settings import Scope
from iterlin_lab.report.tables import interval_texts, markdown_table

NAMES = {"RF": "random features", "NT": "neural tangents"}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was measured, the exponents, and the errors."""
    settings = scale.kernel_limit
    return f"""## L-KERNEL: the kernels of finite networks and their limits

Lecture 11, theorem 2: ‖K^(−1/2) K_N K^(−1/2) − I‖_op = Õ(√((n + d)/(Nd))) for the neural tangent kernel of the
two-layer network, and "similar" for random features. Here σ is ReLU, γ = 1/√N, the N weights are independent draws of
N(0, I/d), a = ±1, and the inputs are uniform on the sphere of radius √d with d = {settings.dimension}. Limits are in
closed form. Every one of {settings.num_seeds} runs draws its inputs and networks anew, and has exponents of its own,
fitted by least squares; the table has their means with 95 % t-intervals.

{markdown_table(_fits(tables["kernel_limit_fits"]))}

The exponent in n belongs to the squared bound, n + d for neural tangents and n for random features (a neuron adds a
matrix of rank d to the one kernel, and of rank one to the other). Õ leaves out logarithms: the column with log 2n has
that factor of matrix Bernstein's inequality, on which the proof rests, in the bound. An upper bound asks for no more
than 1/2. The exponents in N are a little steeper than the first order's: of N independent terms the largest whitened
eigenvalue tends to (1 + √y)² with y ∝ 1/N (Marchenko and Pastur), so that the error is 2√y + y. The corrected exponent
is that of √(1 + error) − 1, which is √y.

{markdown_table(_points(tables["kernel_limit"]))}

![Whitened error of both kernels against N and against n](figures/kernel_limit.svg)

*Whitened error against the number of neurons (a) and of examples (b), means with 95 % intervals. Lines have the
bounds' rates, N^(−1/2) and those in the legend, and the constants that fit best.*"""


def _fits(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kernel": table["kernel"].map(NAMES),
            "varied": table["varied"],
            "theory": ["−1/2" if varied == "N" else "at most 1/2" for varied in table["varied"]],
            "exponent": interval_texts(table, "exponent", "{:.3f}"),
            "corrected": interval_texts(table, "corrected", "{:.3f}"),
            "with log 2n": interval_texts(table, "with_log", "{:.3f}"),
            "error over bound": table["constant_mean"].map("{:.2f}".format),
        }
    )


def _points(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[["varied", "n", "N", "runs"]].assign(error=interval_texts(table, "error", "{:.3f}"))
    rows.insert(0, "kernel", table["kernel"].map(NAMES))
    return rows.assign(**{"bound, without its constant": table["bound"].map("{:.3f}".format)})
