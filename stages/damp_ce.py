"""E-DAMPCE: train all runs of all λ."""

from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.cells import run_cells
    from iterlin.experiments.damp_ce import recipe

    layout, experiment = Layout(scale.name), scale.damp_ce
    cells = {
        layout.results / "damp_ce" / damping: [recipe(scale, damping, run) for run in range(experiment.num_seeds)]
        for damping in experiment.dampings
    }
    run_cells(scale, layout.data, cells, "E-DAMPCE")


if __name__ == "__main__":
    main()
