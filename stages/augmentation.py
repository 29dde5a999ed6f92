"""E-AUG: train all runs of all K on augmented mini-augmentation."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.augmentation import cells
    from iterlin_lab.experiments.cells import run_cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "augmentation", cells(scale), "E-AUG")


if __name__ == "__main__":
    main()
