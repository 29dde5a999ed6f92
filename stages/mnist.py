"""E-MNIST: train all runs of all K."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.mnist import cells

    layout = Layout(scale.name)
    run_cells(scale, layout.mnist_data, layout.results / "mnist", cells(scale), "E-MNIST")


if __name__ == "__main__":
    main()
