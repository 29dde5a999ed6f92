"""L-KERNEL: its pairs of n and N, its exponents, its claims, and how it is shown."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.kernel_limit import figure as figures
from iterlin_lab.experiments.kernel_limit import section as report
from iterlin_lab.experiments.kernel_limit import table as tables
from iterlin_lab.experiments.kernel_limit.claims import FAMILIES
from iterlin_lab.experiments.kernel_limit.run import errors, pairs
from iterlin_lab.experiments.kernel_limit.settings import KernelLimit
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import means
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
SMOKE = scopes("kernel_limit")["smoke"]
SETTINGS = KernelLimit(dimension=3, widths=[8, 16, 32], num_examples=4, sizes=[2, 4, 8], width=16, num_seeds=2)


def test_runs_are_independent_and_one_more_width_leaves_the_others():
    few = SETTINGS.model_copy(update={"widths": [8, 16], "sizes": [4, 8]})
    rows, other = (pd.DataFrame(errors((0, few, run))) for run in (0, 1))
    fewer = pd.DataFrame(errors((0, few.model_copy(update={"widths": [16], "sizes": [4]}), 0)))
    assert len(rows) == 2 * len(pairs(few))
    assert rows["error"].nunique() == len(rows) - 2  # the pair that is in both scans is the same
    assert not set(rows["error"]) & set(other["error"])
    assert set(fewer["error"]) < set(rows["error"])


def test_a_network_with_fewer_neurons_than_examples_is_refused():
    with pytest.raises(ValueError, match="7 neurons are too few for 8 examples"):
        KernelLimit.model_validate(SETTINGS.model_dump() | {"width": 7})


def results(number=10, noise=0.01, in_width=-0.5, in_bound=0.5, log=0.0, edge=False):
    """What the stage writes, with errors that follow power laws, and a power of log 2n.

    At the `edge` of Marchenko and Pastur the law is that of √y, and over N the error is (1 + √y)² − 1.
    """
    draw = np.random.default_rng(0)
    rows = [(kernel, *pair, 3, run) for pair in pairs(SETTINGS) for kernel in ("RF", "NT") for run in range(number)]
    table = pd.DataFrame(rows, columns=["kernel", "varied", "n", "N", "d", "run"])
    squared = tables.bound(table) * table["N"]  # that of n and d alone
    law = table["N"] ** in_width * squared**in_bound * np.log(2 * table["n"]) ** log
    law = law.where(table["varied"] != "N", (1 + law) ** 2 - 1) if edge else law
    return table.assign(error=law * np.exp(draw.normal(0, noise, len(table))))


def test_the_bound_is_that_of_the_theorem():
    table = tables.summarise(results()).set_index(["kernel", "varied", "n"])
    assert table.loc[("NT", "n", 8), "bound"] == pytest.approx(np.sqrt((8 + 3) / (16 * 3)))
    assert table.loc[("RF", "n", 8), "bound"] == pytest.approx(np.sqrt(8 / 16))


def fitted(**law):
    return means(tables.fitted(results(**law)), ["kernel", "varied"], *tables.FITTED).set_index(["kernel", "varied"])


def test_exponents_are_those_of_the_laws():
    fits = fitted(noise=1e-9)
    assert fits["exponent_mean"].to_dict() == pytest.approx(
        {("NT", "N"): -0.5, ("NT", "n"): 0.5, ("RF", "N"): -0.5, ("RF", "n"): 0.5}
    )
    assert fits["constant_mean"].to_numpy() == pytest.approx(1)
    edges = fitted(noise=1e-9, edge=True).xs("N", level="varied")
    assert edges["corrected_mean"].to_numpy() == pytest.approx(-0.5)
    assert (edges["exponent_mean"] < -0.55).all()
    fits = fitted(noise=1e-9, log=0.5)
    assert fits["with_log_mean"].dropna().to_dict() == pytest.approx({("NT", "n"): 0.5, ("RF", "n"): 0.5})
    assert (fits["exponent_mean"].xs("n", level="varied") > 0.55).all()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (YES,) * 4),
        ({"log": 0.5}, (YES,) * 4),
        ({"in_width": -0.3}, (NO, NO, YES, YES)),
        ({"in_bound": 1.5}, (YES, YES, NO, NO)),
        ({"in_bound": 0.1}, (YES,) * 4),  # an upper bound
        ({"noise": 1.0}, (UNKNOWN,) * 4),
        ({"number": 4}, (NONE,) * 4),
    ],
)
def test_the_claims(changes, expected):
    (family,) = FAMILIES
    assert family.table == "kernel_limit_exponents"
    rows = judge(family.claims, tables.fitted(results(**changes, edge=True)))
    assert tuple(row["verdict"] for row in rows) == expected


def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    layout = Layout("smoke")
    (layout.results / "kernel_limit").mkdir(parents=True)
    results().to_csv(layout.results / "kernel_limit" / "errors.csv", index=False)
    made = tables.tables(SMOKE, layout)
    figure = figures.kernel_limit(made)
    figure.canvas.draw()
    assert [axes.get_xlabel() for axes in figure.axes] == ["neurons N, with n = 4", "examples n, with N = 16"]
    plt.close(figure)
    text = report.section(SMOKE, made)
    assert "figures/kernel_limit.svg" in text
    assert text.count("| neural tangents ") == 2 + len(pairs(SETTINGS))
