"""What `dvc plots show` reads."""

from pathlib import Path

from iterlin_lab.config import read_scale
from iterlin_lab.figures.vega import coloured, page
from iterlin_lab.files import whole_folder, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.outputs import read_tables
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    known = read_tables(layout)
    tables = {}
    if "k_sweep" in known:
        tables["curves"] = coloured(known["k_sweep_curves"], "network_test_accuracy", "step")
        tables["cells"] = coloured(known["k_sweep"], "network_validation_stopped")
    with whole_folder(layout.report / "plots") as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    write_text(Path("results/plots_page.html"), page())


if __name__ == "__main__":
    main()
