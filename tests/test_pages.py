"""The pages of experiments in MLflow are written again where their claims or figures are others, and there alone."""

import json

import pytest

from iterlin_lab.config import load
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.layout import Layout
from iterlin_lab.mlflow.cells import Results
from iterlin_lab.mlflow.pages import page
from iterlin_lab.mlflow.reports import show_report
from iterlin_lab.mlflow.store import NOTE

CLAIM = {"mnist": "E-MNIST-1", "xor": "E-XOR-1"}


@pytest.fixture
def report(tmp_path, monkeypatch):
    smoke = load().presets["smoke"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    layout = Layout("smoke")
    layout.figures.mkdir(parents=True)
    for name in CLAIM:
        figure_of(layout, name).write_bytes(b"picture")
    write_claims(layout, {})
    return smoke, layout


def figure_of(layout, name):
    return layout.figures / f"{next(iter(EXPERIMENTS[name].figures))}.png"


def write_claims(layout, found):
    said = {"verdict": "inconclusive", "statement": "It is so.", "evidence": "1"}
    layout.evidence.write_text(json.dumps({CLAIM[name]: said | found.get(name, {}) for name in CLAIM}))


def test_only_what_changed_is_written_again(report):
    smoke, layout = report
    scale = smoke.model_copy(update={"experiments": {"train_own": ["mnist"], "toy": ["xor"]}})
    pages, known = {name: page("smoke", EXPERIMENTS[name]) for name in CLAIM}, {}

    def shown(version):
        """The pages that are written again, and those that have new runs."""
        before = {name: len(store.find({})) for name, store in pages.items()}
        for store in pages.values():
            store.client.set_experiment_tag(store.experiment_id, NOTE, "by hand")
        show_report(Results(scale, [], layout.report, version), pages, known)
        notes = {name: store.client.get_experiment(store.experiment_id).tags[NOTE] for name, store in pages.items()}
        return (
            {name for name, note in notes.items() if note != "by hand"},
            {name for name, store in pages.items() if len(store.find({})) > before[name]},
        )

    assert shown("1") == ({"mnist", "xor"}, {"mnist", "xor"})
    assert shown("2") == (set(), set())
    write_claims(layout, {"xor": {"verdict": "supported"}})
    assert shown("3") == ({"xor"}, {"xor"})
    figure_of(layout, "mnist").write_bytes(b"another")
    assert shown("4") == ({"mnist"}, {"mnist"})
    known.clear()
    assert shown("5") == ({"mnist", "xor"}, set())
