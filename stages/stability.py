"""E-STABLE: train all runs of all pairs of η and K."""

from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.stability import stability

    layout = Layout(scale.name)
    table = stability(scale, layout.data)
    write_text(layout.results / "stability.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
