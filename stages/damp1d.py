"""E-DAMP1D: damped Gauss–Newton on a one-dimensional task."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.damp1d import damp1d

    runs, drawn = damp1d(scale)
    with whole_folder(Layout(scale.name).results / "damp1d") as folder:
        runs.to_csv(folder / "runs.csv", index=False, float_format=FLOATS)
        drawn.to_csv(folder / "drawn.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
