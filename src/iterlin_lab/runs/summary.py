"""What one row of a table says about a run."""

from typing import Any

import equinox as eqx
import optax
import pandas as pd

from iterlin import Divergence, Outcome, Result
from iterlin_lab.runs.recipes import Recipe


def summary(recipe: Recipe, result: Result) -> dict[str, Any]:
    """One row about a run: how it ended, and test accuracies of the network and of its proxy.

    Where some layers alone are trained, also how many parameters these have, and how many there are.
    Three accuracies each: at the end (none if the run diverged); at the record with the best validation accuracy; and
    the best on the test data, which is the papers' "optimal early stopping" and flatters. Ties go to the first.
    """
    curve, last = pd.DataFrame(result.records), result.records[-1]
    row: dict[str, Any] = {
        "run": recipe.run,
        "outcome": result.outcome.name,
        "steps": last["step"],
        "feature_updates": last["feature_updates"],
        "evaluations": last["evaluations"],
        **result.report,
        **_divergence(result.divergence),
        "last_phase_ended": bool(result.state.due),
        "network_train_accuracy": last["network_train_accuracy"],
        "network_train_loss": last["network_train_loss"],
    }
    if recipe.layers is not None:
        row["trained_parameters"] = optax.tree.size(result.state.params)
        row["parameters"] = optax.tree.size(eqx.filter(result.model, eqx.is_inexact_array))
    for model in ("network", "proxy"):
        test, validation = curve[f"{model}_test_accuracy"], curve[f"{model}_validation_accuracy"]
        row[f"{model}_final"] = None if result.outcome is Outcome.diverged else float(test.iloc[-1])
        row[f"{model}_validation_stopped"] = float(test.iloc[validation.to_numpy().argmax()])
        row[f"{model}_test_stopped"] = float(test.max())
    return row


def _divergence(divergence: Divergence | None) -> dict[str, Any]:
    """Where and why a run diverged; the columns are there, and empty, of runs that did not."""
    return {
        "last_finite_step": divergence and divergence.last_finite_step,
        "eta_lambda_max_at_divergence": divergence and divergence.eta_lambda_max,
        "cause": divergence and divergence.cause,
    }
