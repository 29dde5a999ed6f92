"""The baseline of E-SWEEP: truncated Gauss–Newton, each lazy problem solved to a certificate."""

from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.cells import run_cells
    from iterlin_lab.experiments.k_sweep import TGN, tgn_recipe

    layout = Layout(scale.name)
    recipes = [tgn_recipe(scale, run) for run in range(scale.tgn_baseline.num_seeds)]
    run_cells(scale, layout.data, layout.results, {TGN: recipes}, "TGN")


if __name__ == "__main__":
    main()
