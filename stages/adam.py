"""E-ADAM: train all runs of all its cells but K = 1 by gradient descent, which is E-SWEEP's."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.adam import cells
    from iterlin_lab.experiments.cells import run_cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "adam", cells(scale), "E-ADAM")


if __name__ == "__main__":
    main()
