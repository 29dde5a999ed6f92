"""Load the data set once, into one file, and describe it."""

from iterlin_lab.data.prepare import prepare
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    prepare("scale.data.name", scale.data.name, layout.data, layout.data_card)


if __name__ == "__main__":
    main()
