"""The pipeline around `iterlin`: experiments, their results, and what is made of them. It is imported without jax.

A stage sets the threads of jax before jax starts, and a command that computes nothing does not wait for it.
"""

from iterlin_lab.runs.processor import compute_as_older_processors

compute_as_older_processors()
