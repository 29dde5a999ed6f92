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


def compute(calls):
    def fill(folder):
        calls.append(folder)
        (folder / "result").write_text(str(len(calls)))

    return fill


def test_what_is_kept_is_not_computed_again():
    calls = []
    first = scratch.kept({"seed": 0}, ("core",), compute(calls))
    assert scratch.kept({"seed": 0}, ("core",), compute(calls)) == first
    assert (first / "result").read_text() == "1"
    assert scratch.kept({"seed": 1}, ("core",), compute(calls)) != first
    assert len(calls) == 2


@pytest.mark.parametrize(("file", "count"), [("core/a.py", 2), ("b.py", 1)])
def test_a_change_of_the_code_that_it_depends_on_and_of_no_other_computes_again(folder, file, count):
    calls = []
    scratch.kept({}, ("core",), compute(calls))
    (folder / "package" / file).write_text("changed")
    scratch._code_digest.cache_clear()
    scratch.kept({}, ("core",), compute(calls))
    assert len(calls) == count


def test_what_fails_leaves_nothing_behind(folder):
    def fail(unfinished):
        (unfinished / "half").touch()
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        scratch.kept({}, ("core",), fail)
    assert list((folder / "runs").iterdir()) == []


def test_two_that_finish_at_once_agree(folder):
    def overtaken(unfinished):
        (unfinished / "result").write_text("mine")
        scratch.kept({}, ("core",), compute([]))

    entry = scratch.kept({}, ("core",), overtaken)
    assert (entry / "result").read_text() == "1"
    assert [path.name for path in (folder / "runs").iterdir()] == [entry.name]
