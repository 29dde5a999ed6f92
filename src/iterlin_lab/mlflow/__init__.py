"""MLflow as a view of DVC's outputs: runs for the sweep, its cells and their seeds.

The results never depend on MLflow and hold nothing of it. What goes wrong here is a warning.
"""
