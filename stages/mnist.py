"""E-MNIST: train all runs of all K."""

from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.cells import run_cells
    from iterlin.experiments.mnist import cells

    layout = Layout(scale.name)
    run_cells(scale, layout.mnist_data, layout.results / "mnist", cells(scale), "E-MNIST")


if __name__ == "__main__":
    main()
