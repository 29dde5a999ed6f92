"""L-KRR: kernel ridge regression on growing training sets."""

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.results import FLOATS
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.staircase import staircase

    table = staircase(scale)
    write_text(Layout(scale.name).results / "staircase.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
