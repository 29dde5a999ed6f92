"""E-WIDTH: its recipes, its slopes, its claims, figure and section."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.width.claims import CLAIMS, slopes
from iterlin_lab.experiments.width.figure import FIGURES
from iterlin_lab.experiments.width.run import recipes
from iterlin_lab.experiments.width.section import answer, section
from iterlin_lab.experiments.width.settings import check
from iterlin_lab.experiments.width.table import _summary, compared, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.resnet import Settings as ResNet
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("width")
CHANNELS = (8, 16, 32)


@pytest.mark.parametrize("preset", PRESETS)
def test_nothing_but_channels_and_K_differs_between_cells(preset):
    scale = PRESETS[preset]
    own, found = scale.width, recipes(scale)
    assert list(found) == [(channels, period) for channels in own.channels for period in own.periods]
    (one, *_) = found[own.channels[0], "1"]
    for (channels, period), cell in found.items():
        assert [recipe.run for recipe in cell] == list(range(own.num_seeds))
        net = one.net | {"channels": [channels, channels]}
        assert cell[0] == one._replace(net=net, period=float(period))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_examples": 61}, "width.num_examples is 61, more than data.num_train, which is 60"),
        ({"channels": [0, 2]}, "width.channels: net cannot have 0: Input should be greater than"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(changes, message):
    scale = PRESETS["smoke"]
    with pytest.raises(ValueError, match=message):
        check(scale.model_copy(update={"width": scale.width.model_copy(update=changes)}))


def test_a_network_without_a_list_of_channels_is_refused():
    net = ResNet(name="resnet", channels=4, blocks=[1], norm="none", initialisation="he_normal")
    with pytest.raises(ValueError, match="width: net resnet has no list of channels that could be changed"):
        check(PRESETS["smoke"].model_copy(update={"net": net}))


def test_a_slope_is_a_change_per_doubling():
    table = pd.DataFrame({8: [1.0, 0.0], 16: [3.0, 1.0], 64: [7.0, 0.0]})
    np.testing.assert_allclose(slopes(table), [2, -1 / 14], atol=1e-12)


def runs(lazy=-0.08, lazy_slope=0.03, large=-0.03, large_slope=0.0, exponent=-1.0, number=8, outcome="fitted"):
    """Runs whose differences from K = 1, and the logarithm of whose movement, are lines over doublings."""
    draw, rows = np.random.default_rng(1), []
    for doublings, channels in enumerate(CHANNELS):
        shifts = {1.0: 0.0, 1e8: large + large_slope * doublings, np.inf: lazy + lazy_slope * doublings}
        for K, shift in shifts.items():
            accuracy = 0.7 + shift + draw.normal(0, 0.002, number)
            read = {"network_validation_stopped": accuracy, "proxy_validation_stopped": 0.1}
            if np.isinf(K):
                read = {"network_validation_stopped": 0.1, "proxy_validation_stopped": accuracy}
            ended = "step_limit" if np.isinf(K) else outcome
            own = {
                "channels": channels,
                "K": K,
                "run": range(number),
                "outcome": ended,
                "feature_updates": 3,
                "network_train_loss": 0.01,
            }
            moved = np.isfinite(K) * 0.01 * 2 ** (exponent * doublings + draw.normal(0, 0.2, number))
            rows.append(pd.DataFrame({**own, **read, "kernel_distance": moved}))
    return pd.concat(rows, ignore_index=True)


def verdicts(**settings):
    return [row["verdict"] for row in judge(CLAIMS, compared(runs(**settings)))]


def test_the_claims():
    assert verdicts() == [YES] * 5
    assert verdicts(exponent=1)[0] == NO
    assert verdicts(lazy_slope=-0.03)[1] == NO
    assert verdicts(large_slope=0.03)[2:4] == [NO, NO]
    assert verdicts(lazy=0.02)[4] == NO
    assert verdicts(lazy_slope=0, exponent=0)[:2] == [UNKNOWN] * 2


def test_what_cannot_be_compared_is_not_judged():
    assert verdicts(number=4) == [NONE] * 5
    assert verdicts(outcome="step_limit") == [YES, NONE, NONE, NONE, NONE]


def test_the_answer_names_the_ends_of_the_width():
    own = compared(runs(lazy_slope=-0.03))
    found = {"width": _summary(own), "width_runs": own}
    claims = {row["id"]: row for row in judge(CLAIMS, own)}
    moved, lazy, large = answer(PRESETS["smoke"], found, claims).sentences
    assert re.search(
        r"less its tangent kernel moves .* \(kernel distance 0.01 with 8 channels, .* with 32 channels; \[", moved
    )
    assert re.search(r"falls below K = 1 \(-8.0 points with 8 channels, -14.0 points with 32 channels; diff", lazy)
    assert "difference −3.0 points per doubling, 95 % interval" in lazy
    assert large.startswith("What K = 10⁸ changes against K = 1 is the same at all widths")


def test_from_results_to_tables_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale, folder = PRESETS["smoke"], Layout("smoke").results / "width"
    folder.mkdir(parents=True)
    runs().to_csv(folder / "runs.csv", index=False)
    found = tables(scale, Layout("smoke"))
    assert found["width"][["channels", "K"]].to_numpy().tolist() == [[c, K] for c in CHANNELS for K in (1, 1e8, np.inf)]
    assert found["width"].query("K == 1")["difference_mean"].tolist() == [0, 0, 0]
    figure = FIGURES["width"](found)
    figure.canvas.draw()
    plt.close(figure)
    text = section(scale, found)
    assert "both convolutions have 2 and 4 channels" in text
    assert text.count("1.0e-02") == 2 * len(CHANNELS)  # with K = 1 and another finite K
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "| " in line]
    assert [[row[1], row[-2]] for row in rows if row[2] == "∞"] == [[str(channels), "–"] for channels in CHANNELS]
