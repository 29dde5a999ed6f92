"""E-SWEEP: train all runs of one K."""

import json

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, (period,) = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.k_sweep import recipe

    layout = Layout(scale.name)
    learning_rate = json.loads(layout.regime.read_text())["learning_rate"]
    recipes = [recipe(scale, learning_rate, period, run) for run in range(scale.k_sweep.num_seeds)]
    run_cells(scale, layout.data, layout.results / "k_sweep", {period: recipes}, f"K = {period}")


if __name__ == "__main__":
    main()
