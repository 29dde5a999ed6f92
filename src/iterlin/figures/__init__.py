"""Figures, drawn from tables alone."""

from iterlin.figures import adam, damp1d, damp_ce, k_sweep, xor

FIGURES = {**k_sweep.FIGURES, **damp1d.FIGURES, **adam.FIGURES, **damp_ce.FIGURES, **xor.FIGURES}
