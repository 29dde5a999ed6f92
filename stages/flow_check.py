"""B-FLOW: gradient flow against explicit steps."""

from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.flow_check import flow_check

    layout = Layout(scale.name)
    table = flow_check(scale, layout.data)
    write_text(layout.results / "flow_check.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
