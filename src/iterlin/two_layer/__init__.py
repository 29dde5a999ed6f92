"""Linearised two-layer networks: their feature maps and kernels, finite and infinite, and kernel ridge regression.

L is lecture 11, "Linearized Networks"; docs/linearised-networks.md leads through its formulas.
"""
