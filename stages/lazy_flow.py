"""L-LAZY: the flow of two-layer networks against that of their linearisations."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.two_layer_flows import every_seed

    runs, curves = every_seed(scale, "lazy_flow", "iterlin_lab.experiments.lazy_flow:follow")
    with whole_folder(Layout(scale.name).results / "lazy_flow") as folder:
        runs.to_csv(folder / "runs.csv", index=False, float_format=FLOATS)
        curves.to_csv(folder / "curves.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
