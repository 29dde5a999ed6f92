"""A run that is stopped anywhere and goes on in another process ends with the very bytes of one that was not."""

import jax
import numpy as np
import pytest

from iterlin import (
    ClosedForm,
    Drawn,
    Every,
    FileCheckpoints,
    Flow,
    Guarded,
    LevenbergMarquardt,
    Never,
    OnConvergence,
    OnKernelMovement,
    OnLinearisationError,
    Ridge,
    Run,
    Truncated,
    adam,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from iterlin._checkpoints import BEFORE, LAST
from iterlin._fingerprint import as_numbers
from iterlin._progress import Keeper
from tests.problems import classification, mlp, regression

SCHEDULES = {"K = 1": Every(1), "K = 7": Every(7), "K = inf": Never()}
SCHEDULES |= {"on convergence": OnConvergence(0.5), "at random": Drawn(2, 9, jax.random.key(3))}
SCHEDULES |= {"kernel": OnKernelMovement(0.01, every=3, key=jax.random.key(4))}
CAUTIOUS = {"guarded": Guarded(OnLinearisationError(0.1, every=3), halvings=2), "λ": LevenbergMarquardt(Every(7))}
DESCENT, MOMENTUM = sgd(0.1), sgd(0.02, momentum=0.9, at_feature_update="keep")
CASES = [(DESCENT, schedule, batch) for schedule in SCHEDULES for batch in (None, 5)]
CASES += [(DESCENT, schedule, None) for schedule in CAUTIOUS]
CASES += [(solver, "K = 7", batch) for solver in (MOMENTUM, adam(0.01)) for batch in (None, 5)]
CASES += [(DESCENT, schedule, "augmented") for schedule in ("K = 1", "K = 7")]
CASES += [(Truncated(0.1), "on convergence", None), (Truncated(0.1), "K = 7", None)]
CASES += [(Flow(0.002), schedule, None) for schedule in ("K = 1", "K = 7")]


def darker(key, x):
    return x * jax.random.uniform(key)


class EveryLook(FileCheckpoints):
    """Keeps all that was ever kept, a folder each."""

    def __init__(self, folder):
        super().__init__(folder, interval=0.0)
        self.root, self.count = folder, 0

    def restore(self, like):
        return None

    def save(self, progress):
        FileCheckpoints(self.make(self.count), 0.0).save(progress)
        self.count += 1

    def make(self, number):
        return self.root / str(number)


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    monkeypatch.setattr(Keeper, "SMALLEST", 3)
    monkeypatch.setattr(Keeper, "SHARE", float("inf"))


def same(results, others):
    for result, other in zip(results, others, strict=True):
        assert str(result.records) == str(other.records)
        assert (result.outcome, str(result.report)) == (other.outcome, str(other.report))
        for leaf, twin in zip(*(jax.tree.leaves(r.state) for r in (result, other)), strict=True):
            np.testing.assert_array_equal(as_numbers(leaf), as_numbers(twin))


def resumed_everywhere(run, tmp_path, at_least):
    """Compares what `run(checkpoints)` returns with what it does from each of its checkpoints."""
    whole, watched = run(None), EveryLook(tmp_path)
    same(whole, run(watched))
    assert watched.count >= at_least
    for number in range(0, watched.count, max(1, watched.count // 6)):
        same(whole, run(FileCheckpoints(watched.make(number), 0.0)))


@jax.numpy_dtype_promotion("standard")  # optax's Adam needs it
@pytest.mark.parametrize(("solver", "schedule", "batch_size"), CASES)
def test_every_solver_schedule_and_batch(solver, schedule, batch_size, tmp_path):
    x, y = classification(jax.random.key(1))

    def run(checkpoints):
        result = train(
            mlp(jax.random.key(0)),
            {"train": (x, y), "test": (x[:4], y[:4])},
            loss=cross_entropy,
            solver=solver,
            schedule=(SCHEDULES | CAUTIOUS)[schedule],
            damping=0.01 if schedule == "λ" else 0.0,
            num_steps=60,
            batch_size=5 if batch_size == "augmented" else batch_size,
            augment=darker if batch_size == "augmented" else None,
            records_per_decade=4,
            key=jax.random.key(2),
            checkpoints=checkpoints,
        )
        return [result]

    resumed_everywhere(run, tmp_path, at_least=8)


@pytest.mark.parametrize("solver", [ClosedForm(0.05), ClosedForm(3.0), Ridge(0.3)])
def test_solvers_for_squared_error(solver, tmp_path):
    data = regression(jax.random.key(1))

    def run(checkpoints):
        settings = {"solver": solver, "schedule": Every(9), "num_steps": 60, "damping": 1e-3}
        model = mlp(jax.random.key(0))
        return [
            train(model, {"train": data}, loss=squared_error, records_per_decade=4, checkpoints=checkpoints, **settings)
        ]

    resumed_everywhere(run, tmp_path, at_least=4)


def test_runs_that_train_at_once_and_end_at_different_times(tmp_path):
    data = classification(jax.random.key(1))

    def run(checkpoints):
        runs = [
            Run(mlp(jax.random.key(seed)), {"train": data}, sgd(rate)) for seed, rate in enumerate((0.2, 1.0, 4000.0))
        ]
        settings = {"schedule": Every(5), "num_steps": 300, "fit_loss": 0.3, "records_per_decade": 4}
        return train_many(runs, loss=cross_entropy, checkpoints=checkpoints, **settings)

    results = run(None)
    assert len({result.records[-1]["step"] for result in results}) == 3
    assert len({result.outcome for result in results}) > 1
    resumed_everywhere(run, tmp_path, at_least=15)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(damage, tmp_path, capsys):
    data = classification(jax.random.key(1))

    def run(checkpoints, num_steps=60):
        settings = {"solver": sgd(0.1), "schedule": Every(7), "num_steps": num_steps, "records_per_decade": 4}
        return [train(mlp(jax.random.key(0)), {"train": data}, loss=cross_entropy, checkpoints=checkpoints, **settings)]

    whole = run(None)
    run(FileCheckpoints(tmp_path, 0.0))
    last, before = tmp_path / LAST, tmp_path / BEFORE
    content = last.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    last.write_bytes({"cut": content[:middle], "flip": flipped, "empty": b""}[damage])
    kept = FileCheckpoints(tmp_path).restore(whole[0].state)
    assert capsys.readouterr().err == f"warning: {last}: this checkpoint is damaged: going on from an earlier state\n"
    assert kept is not None
    assert 0 < kept.state.step <= 60
    same(whole, run(FileCheckpoints(tmp_path)))

    before.write_bytes(b"neither")
    last.write_bytes(b"one")
    assert FileCheckpoints(tmp_path).restore(whole[0].state) is None
    same(whole, run(FileCheckpoints(tmp_path)))
