"""From tables to figures."""

import matplotlib as mpl

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import chosen
from iterlin_lab.figures.kept import draw_figure
from iterlin_lab.figures.style import SETTINGS
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    mpl.use("agg")
    with whole_folder(layout.figures) as folder, mpl.rc_context(SETTINGS):
        for experiment in chosen(scale):
            for name, draw in experiment.figures.items():
                draw_figure(folder, name, draw, layout.tables)


if __name__ == "__main__":
    main()
