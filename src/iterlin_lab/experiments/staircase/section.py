"""L-KRR: its table and its figure."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.staircase.settings import Scope
from iterlin_lab.report.tables import markdown_table


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """What was regressed, the errors in the middle of the plateaus, and the staircase."""
    settings = scale.staircase
    energies = ", ".join(f"{energy:g}" for energy in settings.energies)
    return f"""## L-KRR: the staircase of kernel ridge regression

Theorem 1 of the lecture: for d^l ≪ n ≪ d^(l+1) the test loss of kernel ridge regression is ‖P_{{>l}} f*‖² + o(1),
where the kernel is rotation-invariant and none of its Hermite coefficients vanishes. Here x is uniform on √d S^(d−1),
and f* a sum of harmonics of degrees 1, 2, … with energies {energies}, so that the plateaus are exact. The kernels are
the limits K^RF and K^NT of the activation erf(z + {settings.shift:g}), with λ = {settings.ridge:g}; the kernels of
ReLU have no odd degree from 3 on. Each of the {settings.num_seeds} runs of a d has its own data, and every n takes the
first n.
Test errors are means over {settings.num_test} test inputs, with 95 % t-intervals over runs, in the middle of the
plateaus, n = d^(l + ½).

{markdown_table(_rows(tables))}

![Test error against log n / log d, for several dimensions](figures/staircase.svg)

*Test error in units of ‖f*‖² against log n / log d, with 95 % intervals over runs, and the plateaus of the theorem
(dashed). In the limit the error is constant on a plateau and falls at n = d^l; at finite d the steps are rounded, and
get steeper as d grows.*"""


def _rows(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The cells in the middle of a plateau."""
    table, plateaus = tables["staircase"], tables["staircase_plateaus"].set_index("degree")["plateau"]
    table = table[table["exponent"] % 1 == 0.5]
    degree = table["exponent"].astype(int)
    return pd.DataFrame(
        {
            "kernel": table["kernel"],
            "l": degree,
            "d": table["dimension"],
            "n": table["n"],
            "‖P_{>l} f*‖²": degree.map(plateaus).map("{:.2f}".format),
            "test error": _errors(table),
        }
    ).sort_values(["kernel", "l", "d"])


def _errors(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["test_error_mean"], table["test_error_high"], strict=True)
    return [f"{mean:.3f} ± {high - mean:.3f}" for mean, high in pairs]
