"""Figures, drawn from tables alone."""

from iterlin.figures import k_sweep as k_sweep

FIGURES = {**k_sweep.FIGURES}
