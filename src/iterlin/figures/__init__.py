"""Figures, drawn from tables alone."""

from iterlin.figures import damp1d, k_sweep

FIGURES = {**k_sweep.FIGURES, **damp1d.FIGURES}
