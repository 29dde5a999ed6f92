"""From tables to figures."""

import matplotlib as mpl
import matplotlib.pyplot as plt

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import chosen
from iterlin_lab.figures.style import SETTINGS, save
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.outputs import read_tables
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    mpl.use("agg")
    tables = read_tables(layout)
    with whole_folder(layout.figures) as folder, mpl.rc_context(SETTINGS):
        for experiment in chosen(scale):
            for name, draw in experiment.figures.items():
                figure = draw(tables)
                save(figure, folder / name)
                plt.close(figure)


if __name__ == "__main__":
    main()
