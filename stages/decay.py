"""L-DECAY: the training loss along gradient flow, against the exponential bound."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.two_layer_flows import every_seed

    runs, curves = every_seed(scale, "decay", "iterlin_lab.experiments.decay:follow")
    with whole_folder(Layout(scale.name).results / "decay") as folder:
        runs.to_csv(folder / "runs.csv", index=False, float_format=FLOATS)
        curves.to_csv(folder / "curves.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
