import pytest

from iterlin import scratch


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "SCRATCH", tmp_path / "runs")
    monkeypatch.setattr(scratch, "PACKAGE", tmp_path / "package")
    (tmp_path / "package" / "core").mkdir(parents=True)
    (tmp_path / "package" / "core" / "a.py").write_text("1")
    (tmp_path / "package" / "b.py").write_text("2")
    scratch._code_digest.cache_clear()
    return tmp_path


def kept(description, code, compute):
    """For a single description."""
    (entry,) = scratch.kept([description], code, lambda folders: compute(folders[0]))
    return entry


def compute(calls):
    def fill(folder):
        calls.append(folder)
        (folder / "result").write_text(str(len(calls)))

    return fill


def test_what_is_kept_is_not_computed_again():
    calls = []
    first = kept({"seed": 0}, ("core",), compute(calls))
    assert kept({"seed": 0}, ("core",), compute(calls)) == first
    assert (first / "result").read_text() == "1"
    assert kept({"seed": 1}, ("core",), compute(calls)) != first
    assert len(calls) == 2


@pytest.mark.parametrize(("file", "count"), [("core/a.py", 2), ("b.py", 1)])
def test_a_change_of_the_code_that_it_depends_on_and_of_no_other_computes_again(folder, file, count):
    calls = []
    kept({}, ("core",), compute(calls))
    (folder / "package" / file).write_text("changed")
    scratch._code_digest.cache_clear()
    kept({}, ("core",), compute(calls))
    assert len(calls) == count


def test_what_fails_leaves_nothing_behind(folder):
    def fail(unfinished):
        (unfinished / "half").touch()
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        kept({}, ("core",), fail)
    assert list((folder / "runs").iterdir()) == []


def test_two_that_finish_at_once_agree(folder):
    def overtaken(unfinished):
        (unfinished / "result").write_text("mine")
        kept({}, ("core",), compute([]))

    entry = kept({}, ("core",), overtaken)
    assert (entry / "result").read_text() == "1"
    assert [path.name for path in (folder / "runs").iterdir()] == [entry.name]


def test_of_several_only_those_that_are_missing_are_computed():
    calls = []

    def fill(folders):
        calls.append(list(folders))
        for i, folder in folders.items():
            (folder / "result").write_text(str(i))

    seeds = [{"seed": seed} for seed in range(4)]
    second = kept({"seed": 1}, ("core",), compute([]))
    entries = scratch.kept(seeds, ("core",), fill)
    assert entries[1] == second
    assert [(entry / "result").read_text() for entry in entries] == ["0", "1", "2", "3"]
    assert scratch.kept(seeds[::-1], ("core",), fill) == entries[::-1]
    assert calls == [[0, 2, 3]]
