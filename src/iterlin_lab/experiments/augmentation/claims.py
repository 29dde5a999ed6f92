"""The claim of E-AUG (T fig. 2), on test accuracies after all steps, paired by run."""

from iterlin_lab.claims.evidence import Claim, Family, alike

FINAL = "network_final"
POINT = 0.01


CLAIMS = (
    Claim(
        "E-AUG-1",
        "T fig. 2, §4.1",
        "With augmentation, a dozen feature updates are enough to end within a point of K = 1.",
        "81.4 % against 82.3 %",
        "difference of the large K from K = 1 after all steps, equivalence",
        POINT,
        lambda runs, margin: alike(runs, FINAL, margin),
    ),
)

FAMILIES = (Family("E-AUG", "augmentation_runs", CLAIMS),)
