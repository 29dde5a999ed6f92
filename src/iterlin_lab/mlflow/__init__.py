"""MLflow as a view of DVC's outputs: an experiment for each of ours, and in it runs for its cells and their seeds.

The results never depend on MLflow and hold nothing of it. What goes wrong here is a warning.
"""
