"""E-SWEEP around its setting: some K at a multiple of its learning rate."""

import json

from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, (factor,) = begin_stage()
    from iterlin.experiments.k_sweep import recipe, run_cells

    layout = Layout(scale.name)
    learning_rate = float(factor) * json.loads(layout.regime.read_text())["learning_rate"]
    axes = scale.sensitivity
    cells = {
        layout.results / "sensitivity" / factor / period: [
            recipe(scale, learning_rate, period, run) for run in range(axes.num_seeds)
        ]
        for period in axes.periods
    }
    run_cells(scale, layout.data, cells, f"η × {factor}")


if __name__ == "__main__":
    main()
