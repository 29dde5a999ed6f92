"""E-BATCH: train all runs of all K, on full batches and on mini-batches."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.batches import cells
    from iterlin_lab.experiments.cells import run_cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "batches", cells(scale), "E-BATCH")


if __name__ == "__main__":
    main()
