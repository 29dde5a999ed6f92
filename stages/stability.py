"""E-STABLE: train all runs of all pairs of η and K."""

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.results import FLOATS
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.stability import stability

    layout = Layout(scale.name)
    table = stability(scale, layout.data)
    write_text(layout.results / "stability.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
