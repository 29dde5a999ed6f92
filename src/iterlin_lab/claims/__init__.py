"""Tests of claims, which the experiments share, and their verdicts."""
