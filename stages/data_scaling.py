"""E-DATA: train all runs of all K on training sets of all sizes."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.data_scaling import cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "data_scaling", cells(scale), "E-DATA")


if __name__ == "__main__":
    main()
