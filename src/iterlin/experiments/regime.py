"""The learning rate, by a rule: η = stability / λ_max, with λ_max the largest over draws that no result uses."""

from pathlib import Path
from typing import Any

from iterlin.config import Scale
from iterlin.experiments.training_run import max_eigenvalue
from iterlin.runtime import run_side_by_side


def find_regime(scale: Scale, data: Path) -> dict[str, Any]:
    """The learning rate η, and λ_max of the GGN at initialisation for each draw."""
    net, sizes = scale.net.model_dump(), scale.data.sizes
    tasks = [(scale.seed, draw, net, sizes, data) for draw in range(scale.regime.num_seeds)]
    eigenvalues = run_side_by_side(max_eigenvalue, tasks, scale.threads, progress=iter)
    return {
        "learning_rate": float(f"{scale.regime.stability / max(eigenvalues):.3g}"),
        "stability": scale.regime.stability,
        "max_eigenvalues": eigenvalues,
    }
