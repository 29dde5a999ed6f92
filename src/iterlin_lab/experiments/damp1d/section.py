"""E-DAMP1D: damped Gauss–Newton on a one-dimensional task."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.damp1d.depths import deepest
from iterlin_lab.experiments.damp1d.settings import Damp1D, Scope
from iterlin_lab.report.names import named
from iterlin_lab.report.tables import markdown_table


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """How the runs of every λ ended, and what they learnt."""
    every, section = tables["damp1d"], scale.damp1d
    own = deepest(every)
    shallower = every.drop(own.index)
    return f"""## E-DAMP1D: damped Gauss–Newton on a quintic

x⁵/32 − x³/2 + 2x − 1 at {section.num_train} equally spaced points, by {section.num_steps} full-batch Gauss–Newton
steps (`Every(1)` with the exact solver, float64) from the same {section.num_seeds} initialisations for every λ, for
λ = 0, and for step sizes α at λ = 0. λ belongs to the mean loss; T's (eq. 10) is 2n times as much. A run has failed if
its train RMSE ends above {section.max_train_rmse:g} (T fig. 9 leaves these out) or it diverged. Means, medians and the
best leave failed runs out; in the 95th percentile they count as infinitely bad.

{markdown_table(_rows(own, section))}

![Test RMSE, failed runs and roughness against damping](figures/damp_quintic.svg)

*Test RMSE of every run that has not failed (a), the share of runs that have (b), and the roughness ∫|f''| of the
functions (c), the total variation of their slope (after T fig. 9, top).*

![Functions learnt with four values of the damping](figures/damp_quintic_functions.svg)

*Functions of the first {section.num_drawn} initialisations, the quintic (dashed) and the training points (circles;
after T fig. 9, centre). Some leave the panels.*

T's "5 layer" may be {section.net.depth} hidden layers, as above, or {section.shallower.depth}, which
{section.shallower.num_seeds} initialisations check:

{markdown_table(_rows(shallower, section))}"""


def _rows(table: pd.DataFrame, section: Damp1D) -> pd.DataFrame:
    """A row a way to damp."""
    return pd.DataFrame(
        {
            "damping": [_way(*way) for way in table[["damping", "step_size"]].to_numpy()],
            "T's λ": [f"{2 * section.num_train * damping:g}" for damping in table["damping"]],
            "runs": table["runs"],
            "failed": table["failed"],
            "diverged": table["diverged"],
            "train RMSE": table["median_train_rmse"].map("{:.2g}".format),
            "test RMSE, mean": _mean(table, "test_rmse"),
            "median": table["median_test_rmse"].map("{:.2f}".format),
            "95 %": table["quantile_95"].map("{:.3g}".format),
            "best": table["best"].map("{:.2f}".format),
            "roughness, median": table["median_roughness"].map("{:.0f}".format),
        }
    )


def _way(damping: float, step_size: float) -> str:
    return named(damping=damping) if step_size == 1 else named(step_size=step_size)


def _mean(table: pd.DataFrame, name: str) -> list[str]:
    pairs = zip(table[f"{name}_mean"], table[f"{name}_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.2f} ± {high - mean:.2f}" for mean, high in pairs]
