"""The claims of E-PROBE, and what it answers."""

import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.probes import claims
from iterlin_lab.experiments.probes import section as report
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("probes")


def runs(final=-3.0, delay=2.0, fraction=0.2, first=2.0, behind=3.0, noise=0.002, number=8, **columns):
    """Runs whose probes at the large K differ from those of K = 1 by so many points."""
    draw, rows = np.random.default_rng(1), []
    noisy = {name: draw.normal(0, noise, (3, number)) for name in (1, 1000)}
    noisy = {name: values - values.mean(axis=1, keepdims=True) for name, values in noisy.items()}
    for K, there in ((1, 0), (1000, 1)):
        values = {"K": K, "run": range(number), "outcome": "step_limit", "converged": True, "late_gain": 0.01}
        for layer, by_layer in (("layer1", delay), ("layer2", abs(delay))):
            values[f"{layer}_final"] = 0.8 + there * final / 100 + noisy[K][0]
            values[f"{layer}_first"] = 0.6 + there * first / 100 + noisy[K][1]
            values[f"{layer}_one_first"] = values[f"{layer}_first"] + behind / 100 + noisy[K][0]
            values[f"{layer}_delay"] = np.exp(there * (np.log(abs(by_layer)) * np.sign(by_layer)) + 20 * noisy[K][2])
            values[f"{layer}_fraction"] = np.clip(fraction + 20 * noisy[K][2], 0, 1)
        rows.append(pd.DataFrame(values))
    return pd.concat(rows, ignore_index=True).assign(**columns)


def verdicts(table):
    return [row["verdict"] for row in judge(claims.CLAIMS, table)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [YES] * 5),
        # Sooner in layer 1, later in layer 2.
        ({"final": 0, "delay": -2.0, "fraction": 0.9, "first": 0, "behind": 0}, [NO] * 5),
        ({"noise": 0.2, "fraction": 0.5}, [UNKNOWN] * 5),
        ({"number": 4}, [NONE] * 5),
        ({"outcome": "diverged"}, [NONE] * 5),
        ({"converged": False}, [NONE] * 5),
        ({"layer1_delay": np.nan}, [UNKNOWN, YES, YES, YES, YES]),
        ({"layer1_delay": np.nan, "layer2_delay": 0.5}, [NO, YES, YES, YES, YES]),
        ({"late_gain": 0.06}, [NONE, NONE, NONE, YES, YES]),
    ],
)
def test_the_claims(settings, expected):
    assert verdicts(runs(**settings)) == expected


def test_the_evidence_says_whether_a_fifth_of_training_is_in_the_interval():
    said = {fraction: judge(claims.CLAIMS, runs(fraction=fraction))[2]["evidence"] for fraction in (0.2, 0.4)}
    assert "contains 20%; in 0 of 8 runs" in said[0.2]
    assert "excludes 20%" in said[0.4]
    late = judge(claims.CLAIMS, runs(fraction=2.0))[2]
    assert late["evidence"].endswith("in 8 of 8 runs not before its end")
    assert late["verdict"] == NO


def test_there_is_nothing_to_say_of_one_period_alone():
    table = runs()
    assert verdicts(table[table["K"] == 1]) == [NONE] * 5


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_answer_names_the_updates_and_what_both_reach(verdict):
    ids = ("E-AUG-1", "E-PROBE-1", "E-PROBE-2")
    networks = pd.DataFrame(
        {"K": [1, 1000], "median_feature_updates": [9999, 9], "network_final_mean": [0.8, 0.795], "runs": 3}
    )
    probed = pd.DataFrame({"layer": [1, 1, 2, 2], "K": [1, 1000] * 2, "final_mean": [0.7, 0.7, 0.81, np.nan]})
    claimed = {name: {"verdict": verdict} for name in ids}
    answer = report.answer(PRESETS["smoke"], {"augmentation": networks, "probes": probed}, claimed)
    assert all(f"**{verdict}**" in text for text in answer.sentences)
    network, slower, lower = answer.sentences
    assert "9 feature updates" in network
    assert "(79.5 % with K = 1000, 80.0 % with K = 1; [E-AUG-1]" in network
    assert "more slowly with K = 1000 than with K = 1" in slower
    assert "(81.0 %" not in lower  # one of the two has no run
    assert "not CIFAR-10" in answer.caveat
