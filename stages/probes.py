"""E-PROBE: linear probes of the networks that E-AUG keeps."""

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.results import FLOATS
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.probes import probes

    layout = Layout(scale.name)
    table = probes(scale, layout.data, layout.results / "augmentation")
    write_text(layout.results / "probes.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
