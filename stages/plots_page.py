"""The page of `dvc plots show`."""

from pathlib import Path

from iterlin_lab.config import read_scale
from iterlin_lab.figures.page import page
from iterlin_lab.files import write_text
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    begin_stage(read_scale())
    write_text(Path("results/plots_page.html"), page())


if __name__ == "__main__":
    main()
