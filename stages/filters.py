"""E-FILTER and B-NTK: measure the filters and the kernels of the networks of E-AUG."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.filters import filters

    layout = Layout(scale.name)
    tables = filters(scale, layout.data, layout.results / "augmentation")
    with whole_folder(layout.results / "filters") as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
