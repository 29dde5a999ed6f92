"""How numbers are written wherever people read them."""

import math

import pytest

from iterlin_lab.report.names import label, named, number_text, period_key, period_text, tick, typeset


@pytest.mark.parametrize(
    ("K", "text", "key"),
    [(1, "1", "1"), (5000, "5000", "5000"), (1e4, "10⁴", "1e4"), (1.25e6, "1.25·10⁶", "1.25e6"), (math.inf, "∞", "∞")],
)
def test_a_period(K, text, key):
    assert (period_text(K), period_key(K)) == (text, key)


def test_what_numbers_are_called():
    assert named(K=1e8, damping=1e-7, tolerance=0.1, n=math.nan) == "K = 10⁸, λ = 10⁻⁷, β = 0.1"
    assert (label(1e4), label(1), label(math.nan), tick(math.inf)) == ("K = 10⁴", "K = 1 (GD)", "TGN", "∞ (lazy)")
    assert number_text(-2.5e-5) == "−2.5·10⁻⁵"
    assert [number_text(value) for value in (0.0, 1e-3, 1e-4, 3e-4)] == ["0", "0.001", "10⁻⁴", "3·10⁻⁴"]


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ("up to 1e+10 steps, p = 1.6e-152", "up to 10¹⁰ steps, p = 1.6·10⁻¹⁵²"),
        ("| -0.1 [-0.7, +0.5] |", "| −0.1 [−0.7, +0.5] |"),
        ("write `1e-5` or `-3`, 1e5, `x`-3", "write `1e-5` or `-3`, 10⁵, `x`-3"),
        ("```\n-3 1e5\n```\n-3", "```\n-3 1e5\n```\n−3"),
        ("[K = 1e4](figures/k-1e4.svg)", "[K = 10⁴](figures/k-1e4.svg)"),
        ("SHA-256 0e6ee931b65e8bcf, x1e5, 3-4, v0.1e5b", "SHA-256 0e6ee931b65e8bcf, x1e5, 3-4, v0.1e5b"),
        ("- item\n-----|---:|", "- item\n-----|---:|"),
    ],
)
def test_powers_and_minus_signs_outside_of_code_and_links(plain, text):
    assert typeset(plain) == text
    assert typeset(text) == text
