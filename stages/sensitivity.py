"""E-SWEEP around its setting: some K by gradient descent with a multiple of its learning rate."""

import json

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, (factor,) = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.k_sweep import rescaled_recipe

    layout = Layout(scale.name)
    learning_rate = json.loads(layout.regime.read_text())["learning_rate"]
    axes = scale.sensitivity
    cells = {
        period: [rescaled_recipe(scale, learning_rate, period, run, float(factor)) for run in range(axes.num_seeds)]
        for period in axes.periods
    }
    run_cells(scale, layout.data, layout.results / "sensitivity" / factor, cells, f"η × {factor}")


if __name__ == "__main__":
    main()
