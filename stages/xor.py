"""E-XOR: train a small network on XOR data along both dials, K and λ."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.xor import xor

    tables = dict(zip(("runs", "features"), xor(scale), strict=True))
    with whole_folder(Layout(scale.name).results / "xor") as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
