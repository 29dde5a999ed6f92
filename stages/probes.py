"""E-PROBE: linear probes of the networks that E-AUG keeps."""

from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.probes import probes

    layout = Layout(scale.name)
    table = probes(scale, layout.data, layout.results / "augmentation")
    write_text(layout.results / "probes.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
