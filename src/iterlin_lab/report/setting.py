"""What was run."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from iterlin_lab.report.names import named
from iterlin_lab.settings.shared import Shared

SOURCE_DATA = "cifar10"  # T fig. 3


def in_one_line(scale: Shared, data: dict) -> str:
    """The training data and the network, without their details."""
    size = "×".join(map(str, data["image_shape"][:2]))
    return f"{scale.data.num_train} training examples of `{data['name']}` of {size} pixels, and a `{scale.net.name}`"


def caveat(scale: Shared, runs: pd.DataFrame | None = None) -> str:
    """Whether its `runs` trained less far with K = 1, and where this setting is farthest from that of T fig. 3."""
    time = "" if runs is None else _trained_less_far(runs)
    return f"{time} {_other_setting(scale)}".strip()


def _trained_less_far(runs: pd.DataFrame) -> str:
    """Nothing, unless a finite K ends at less than a tenth of the training loss of K = 1."""
    medians = runs.groupby("K")["network_train_loss"].median().dropna()
    losses = {K: loss for K, loss in zip(medians.index.map(float), medians, strict=True) if np.isfinite(K)}
    furthest = min(losses, key=losses.__getitem__, default=1)
    if 1 not in losses or losses[1] <= 10 * losses[furthest]:
        return ""
    return (
        f"K = 1 trains to a loss of {losses[1]:.1e}, and {named(K=furthest)} to {losses[furthest]:.1e}. What lies "
        "between them may be time, and not features ([time](../../docs/validity.md#time))."
    )


def _other_setting(scale: Shared) -> str:
    if scale.data.name != SOURCE_DATA:
        return (
            f"These are `{scale.data.name}`, and not CIFAR-10, on which T trains. A verdict here holds in this setting "
            "and does not say what CIFAR-10 would give."
        )
    if scale.training.batch_size is None:
        return "T takes mini-batches of 256, and these runs take full batches."
    return ""


def setting(scale: Shared, data: dict, regime: dict, solver: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Data, network, training (with which `solver`, in words) with the form of its phases, and the rule for η."""
    sizes, net, training = scale.data, scale.net, scale.training
    batch = "full batches" if training.batch_size is None else f"mini-batches of {training.batch_size}"
    details = ", ".join(f"{key} {value}" for key, value in net.model_dump().items() if key != "name")
    note = f" **Note**: {data['note']}." if data["note"] else ""
    form = _form(scale, tables)
    return f"""## Setting

- **Data**: `{data["name"]}`, {data["source"]} (licence: {data["licence"]}; SHA-256 {data["sha256"][:16]}…). Each run
  draws its own split of {sizes.num_train} training, {sizes.num_validation} validation and {sizes.num_test} test
  examples.{note}
- **Network**: `{net.name}` ({details}).
- **Training**, where an experiment says nothing else: cross-entropy, {batch}, in {scale.precision}{solver}.
  A run stops at its first record at which the network classifies the whole training set correctly with a loss of at
  most {training.fit_loss:g}. It counts as diverged when the loss of the lazy problem is not
  finite or exceeds {training.divergence_factor:g} times the initial one (or the loss of all-zero outputs).{form}
- **Regime**: {_rule(regime)}"""


def _form(scale: Shared, tables: Mapping[str, pd.DataFrame]) -> str:
    """How many runs were solved in their dual, and the largest error of that; nothing where no table says it."""
    runs = [table for name, table in tables.items() if name.endswith("_runs") and "expected_evaluations" in table]
    if scale.form == "primal" or not runs:
        return ""
    errors = pd.concat([table["dual_error"] for table in runs if "dual_error" in table] or [pd.Series(dtype=float)])
    in_dual, total = errors.count(), sum(map(len, runs))
    error = f", where f_lin differs from the linearised network by at most {errors.max():.1g} of their movement"
    return f"""
- **Form**: `{scale.form}`. {in_dual} of {total} runs solved their lazy phases in the dual, with the kernel of the
  training data{error if in_dual else ""}."""


def _rule(regime: dict) -> str:
    if "max_eigenvalues" not in regime:
        return "η is given in params.yaml."
    eigenvalues = regime["max_eigenvalues"]
    return f"""η = {regime["stability"]:g} / λ_max, where λ_max is the largest eigenvalue of the Gauss–Newton matrix at
  initialisation over {len(eigenvalues)} draws that no result uses (from {min(eigenvalues):.3g} to
  {max(eigenvalues):.3g})."""
