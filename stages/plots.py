"""From tables to figures."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd

from iterlin_lab.figures import FIGURES
from iterlin_lab.figures.style import SETTINGS, save
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    mpl.use("agg")
    tables = {path.stem: pd.read_csv(path, dtype={"cell": str}) for path in layout.tables.glob("*.csv")}
    with whole_folder(layout.figures) as folder, mpl.rc_context(SETTINGS):
        for name, draw in FIGURES.items():
            figure = draw(tables)
            save(figure, folder / name)
            plt.close(figure)


if __name__ == "__main__":
    main()
