"""The claim of E-DAMPCE (T fig. 9 bottom, §4.3), on test accuracies at the end, which T fig. 9 shows, by run."""

import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family, trend

FINAL = "network_final"


def _rises(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The trend along λ, without any λ that has a run which did not fit the training set, as in E-SWEEP-1."""
    fitted = (runs["outcome"] == "fitted").groupby(runs["damping"]).all()
    values = runs.pivot_table(index="run", columns="damping", values=FINAL).reindex(columns=fitted.index[fitted])
    means = ", ".join(f"{damping:g}: {100 * mean:.1f}" for damping, mean in values.mean().items())
    left_out = ", ".join(map("{:g}".format, fitted.index[~fitted]))
    note = f". Left out, since some runs did not fit in time: λ = {left_out}" if left_out else ""
    return trend(values, f"mean accuracy in % by λ: {means}{note}")


CLAIMS = (
    Claim(
        "E-DAMPCE-1",
        "T fig. 9, §4.3",
        "The larger the damping of the lazy problems is, the better the network generalises.",
        "an increasing curve",
        "rising trend over λ (Page)",
        0.0,
        _rises,
    ),
)

FAMILIES = (Family("E-DAMPCE", "damp_ce_runs", CLAIMS),)
