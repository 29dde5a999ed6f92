"""E-BATCH: train all runs of all K, on full batches and on mini-batches."""

from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.batches import cells
    from iterlin.experiments.cells import run_cells

    layout = Layout(scale.name)
    run_cells(scale, layout.data, layout.results / "batches", cells(scale), "E-BATCH")


if __name__ == "__main__":
    main()
