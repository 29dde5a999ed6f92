"""E-DAMPCE: train all runs of all λ."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.damp_ce import cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "damp_ce", cells(scale), "E-DAMPCE")


if __name__ == "__main__":
    main()
