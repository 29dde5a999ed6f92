"""Load a data set once, into one file, and describe it: the scale's, or an experiment's own."""

from iterlin_lab.config import read_scale
from iterlin_lab.data.prepare import prepare
from iterlin_lab.layout import Layout
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    _, own = begin_stage(scale)
    layout = Layout(scale.name)
    if own:
        (experiment,) = own
        data, path = getattr(scale, experiment).data, layout.data_of(experiment)
        prepare(f"scale.{experiment}.data.name", data.name, path, path.with_suffix(".json"))
    else:
        prepare("scale.data.name", scale.data.name, layout.data, layout.data_card)


if __name__ == "__main__":
    main()
