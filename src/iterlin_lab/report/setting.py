"""What was run."""

from iterlin_lab.settings.shared import Shared


def setting(scale: Shared, data: dict, regime: dict, solver: str) -> str:
    """Data, network, training (with which `solver`, in words) and the rule for η."""
    sizes, net, training = scale.data, scale.net, scale.training
    batch = "full batches" if training.batch_size is None else f"mini-batches of {training.batch_size}"
    details = ", ".join(f"{key} {value}" for key, value in net.model_dump().items() if key != "name")
    note = f" **Note**: {data['note']}." if data["note"] else ""
    return f"""## Setting

- **Data**: `{data["name"]}`, {data["source"]} (licence: {data["licence"]}; SHA-256 {data["sha256"][:16]}…). Each run
  draws its own split of {sizes.num_train} training, {sizes.num_validation} validation and {sizes.num_test} test
  examples.{note}
- **Network**: `{net.name}` ({details}).
- **Training**: cross-entropy, {batch}{solver}.
  A run stops at a feature update once the network classifies the whole training set correctly with a loss of at most
  {training.fit_loss:g}. It counts as diverged when the loss of the lazy problem is not
  finite or exceeds {training.divergence_factor:g} times the initial one (or the loss of all-zero outputs).
- **Regime**: {_rule(regime)}"""


def _rule(regime: dict) -> str:
    if "max_eigenvalues" not in regime:
        return "η is given in params.yaml."
    eigenvalues = regime["max_eigenvalues"]
    return f"""η = {regime["stability"]:g} / λ_max, where λ_max is the largest eigenvalue of the Gauss–Newton matrix at
  initialisation over {len(eigenvalues)} draws that no result uses (from {min(eigenvalues):.3g} to
  {max(eigenvalues):.3g})."""
