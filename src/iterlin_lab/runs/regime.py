"""The learning rate: given, or η = stability / λ_max with λ_max the largest over draws that no result uses."""

from pathlib import Path
from typing import Any

from iterlin_lab.runs.recipes import REGIME
from iterlin_lab.runs.workers import run_side_by_side
from iterlin_lab.settings.shared import FixedRate, Shared

MAX_EIGENVALUE = "iterlin_lab.runs.training:max_eigenvalue"


def find_regime(scale: Shared, data: Path) -> dict[str, Any]:
    """The learning rate η; if a rule sets it, also λ_max of the GGN at initialisation for each draw."""
    rule = scale.regime
    if isinstance(rule, FixedRate):
        return {"learning_rate": rule.learning_rate}
    net, sizes = scale.net.model_dump(), scale.data.sizes
    tasks = [(scale.seed, draw, REGIME, net, sizes, data) for draw in range(rule.num_seeds)]
    eigenvalues = run_side_by_side(MAX_EIGENVALUE, tasks, scale.threads, progress=iter)
    return {
        "learning_rate": float(f"{rule.stability / max(eigenvalues):.3g}"),
        "stability": rule.stability,
        "max_eigenvalues": eigenvalues,
    }
