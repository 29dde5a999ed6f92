"""The claim of E-AUG (T fig. 2), on test accuracies after all steps, paired by run."""

import pandas as pd

from iterlin_lab.claims.verdicts import Claim, Evidence, Family, any_diverged, equivalent, paired

FINAL = "network_final"
POINT = 0.01


def _as_gradient_descent(runs: pd.DataFrame, margin: float) -> Evidence | None:
    cells = [cell for cell in dict.fromkeys(runs["cell"]) if cell not in ("1", "inf")]
    if any_diverged(runs, ["1", *cells]):
        return None
    differences = {f"K = {cell}": paired(runs, cell, FINAL, ("1", FINAL)) for cell in cells}
    return equivalent({name: values for name, values in differences.items() if values is not None}, margin)


CLAIMS = (
    Claim(
        "E-AUG-1",
        "T fig. 2, §4.1",
        "With augmentation, a dozen feature updates are enough to end within a point of K = 1.",
        "81.4 % against 82.3 %",
        "difference of the large K from K = 1 after all steps, equivalence",
        POINT,
        _as_gradient_descent,
    ),
)

FAMILIES = (Family("E-AUG", "augmentation_runs", CLAIMS),)
