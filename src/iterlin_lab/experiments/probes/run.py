"""E-PROBE (T fig. 5): linear classifiers on the layers of the networks along E-AUG (T §4.2; Alain and Bengio 2017)."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from iterlin._blocks import in_chunks
from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.probes.settings import Probes, Scope
from iterlin_lab.files import digest
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.results import snapshots
from iterlin_lab.runs.splits import draw_splits, read_data
from iterlin_lab.runs.store import kept_rows
from iterlin_lab.runs.training import code_of, digests, keys
from iterlin_lab.runs.workers import side_by_side
from iterlin_lab.settings import parse_period

Examples = tuple[np.ndarray, np.ndarray]  # features (n, d) and labels (n,)


class Probe(NamedTuple):
    """The λ that was chosen, accuracies with it, and whether the probes of all λ converged."""

    strength: float
    validation_accuracy: float
    test_accuracy: float
    converged: bool


NO_PROBE = Probe(np.nan, np.nan, np.nan, converged=False)  # of a network that has left every bound


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a K, run, step and layer (from 1): λ of the probe, its accuracies, and whether it converged."""
    limit_workers(scale)
    layout = Layout(scale.name)
    runs = list(product(compared(scale.augmentation), range(scale.augmentation.num_seeds)))
    tasks = []
    for period, run in runs:
        kept = snapshots(layout.results / "augmentation" / period, run)
        tasks.append((scale, layout.data, {step: kept[step] for step in probed(scale, kept)}, run))
    each = zip(
        runs, side_by_side(f"{__name__}:{probe_run.__name__}", tasks, scale.threads, "E-PROBE", "run"), strict=True
    )
    return {
        "probes": pd.DataFrame([{"period": period, "run": run} | row for (period, run), rows in each for row in rows])
    }


def probed(scale: Scope, steps: Iterable[int]) -> list[int]:
    """The steps at which networks are probed. But for the ends of phases, they are the same for every K."""
    large = parse_period(compared(scale.augmentation)[1])
    told = {step for step in steps if step == 1 or step % large == 0}
    others = sorted(set(steps) - told)
    return sorted({*told, *others[:: scale.probes.every], *others[-1:]})


def probe_run(task: tuple[Scope, Path, dict[int, Path], int]) -> list[dict[str, Any]]:
    """A row a step and layer, for the networks of one run by their steps. What is kept already is not fitted again."""
    scale, data_path, networks, run = task
    data = read_data(data_path)
    what = scale.model_dump(include={"data", "threads", "precision", "seed", "probes"}) | {
        "run": run,
        "networks": {step: digest(file) for step, file in networks.items()},
        "scikit-learn": version("scikit-learn"),
    }

    def rows(missing: list[int]) -> list[list[dict[str, Any]]]:
        splits, _ = draw_splits(data, scale.data.sizes, keys(scale.seed, run)[0])
        return [
            [
                {"step": step, "layer": layer, **probe._asdict()}
                for step, file in networks.items()
                for layer, probe in enumerate(_probes(load(file).model, splits, scale.probes), 1)
            ]
        ]

    code = code_of(scale.net.name, "iterlin_lab/experiments/probes/run.py")
    (found,) = kept_rows([what | {"digests": digests(data)}], code, rows)
    return found


def _probes(model: Any, splits: Mapping[str, tuple[Array, Array]], settings: Probes) -> Iterator[Probe]:
    """The activations of the layers, in their order."""
    labels = {name: np.asarray(y) for name, (_, y) in splits.items()}
    ends = np.cumsum([len(y) for y in labels.values()])[:-1]
    # All splits in one evaluation: a program for each would take three times as long to compile.
    for layer in _layers(model, jnp.concatenate([x for x, _ in splits.values()])):
        features = np.split(np.asarray(layer, np.float64), ends)
        examples = dict(zip(labels, zip(features, labels.values(), strict=True), strict=True))
        yield fit_probe(examples, settings) if np.isfinite(layer).all() else NO_PROBE


@eqx.filter_jit
def _layers(model: Any, x: Float[Array, "n ..."]) -> list[Float[Array, "n d"]]:
    return [layer.reshape(len(x), -1) for layer in in_chunks(jax.vmap(model.activations), x)]


def fit_probe(examples: Mapping[str, Examples], settings: Probes) -> Probe:
    """The probe with the best validation accuracy; of several, the one with the largest λ.

    `examples` come from the splits `train`, `validation` and `test`. Features are shifted and scaled by the means
    and deviations of the training split.
    """
    scaler = StandardScaler().fit(examples["train"][0])
    scaled = {name: (np.asarray(scaler.transform(x)), y) for name, (x, y) in examples.items()}
    (x, y), found, gradients = scaled["train"], [], []
    classifier = LogisticRegression(tol=settings.tolerance, max_iter=settings.max_iterations, warm_start=True)
    for strength in sorted(settings.strengths, reverse=True):  # each starts from the one before
        classifier.set_params(C=1 / (strength * len(x)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # whether it converged is measured
            classifier.fit(x, y)
        found.append((strength, classifier.score(*scaled["validation"]), classifier.score(*scaled["test"])))
        gradients.append(largest_gradient(classifier, x, y))
    best = max(found, key=lambda probe: probe[1])
    return Probe(*best, converged=max(gradients) <= settings.tolerance)


def largest_gradient(classifier: LogisticRegression, x: np.ndarray, y: np.ndarray) -> float:
    """The largest component, in W and b, of the gradient of mean cross-entropy + λ/2 ‖W‖² with λ = 1 / (C n)."""
    error = (classifier.predict_proba(x) - (y[:, None] == classifier.classes_)) / len(x)
    of_weights = error.T @ x + classifier.coef_ / (classifier.C * len(x))
    return float(max(np.abs(of_weights).max(), np.abs(error.sum(axis=0)).max()))
