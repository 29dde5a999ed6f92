"""Runs side by side, and how the stages of a pipeline share the processors."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from iterlin_lab.files import one_of
from iterlin_lab.runs.workers import SLOTS, run_side_by_side

RUN = "subprocess:getoutput"  # of a shell command
MEET = "for _ in $(seq 1200); do [ $(ls {folder} | wc -l) = 2 ] && echo met && break; sleep 0.05; done"


def note(folder, name):
    """Write down when this began and ended; its name."""
    return f"cd {folder}; echo $(date +%s.%N; sleep 0.1; date +%s.%N) > {name}; echo {name}"


def meet(folder, name):
    """Whether another task begins before this one ends, which waits for it."""
    return f"touch {folder}/{name}; {MEET.format(folder=folder)}"


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.setenv("ITERLIN_WORKERS", "2")
    monkeypatch.setenv(SLOTS, str(tmp_path / "processors"))
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def processors(notes):
    return [notes.parent / "processors" / name for name in "01"]


def test_a_lock_of_several_is_held_until_it_is_closed(tmp_path):
    locks = [tmp_path / "locks" / name for name in "ab"]
    taken = [one_of(locks), one_of(locks)]
    assert [Path(file.name) for file in taken if file] == locks
    assert one_of(locks) is None
    for file in taken:
        assert file
        file.close()
    again = one_of(locks)
    assert again
    again.close()


@pytest.mark.parametrize("shared", [True, False])
def test_as_many_tasks_as_there_are_processors_run_at_once_and_answer_in_their_order(shared, notes, monkeypatch):
    if not shared:
        monkeypatch.delenv(SLOTS)
    assert run_side_by_side(RUN, [meet(notes, "a"), meet(notes, "b")], 1, iter) == ["met", "met"]
    assert run_side_by_side(RUN, [note(notes, name) for name in "abcd"], 1, iter) == list("abcd")


def test_two_stages_have_no_more_processors_than_there_are(notes):
    with ThreadPoolExecutor() as pool:
        names = [[f"{stage}{number}" for number in range(6)] for stage in "ab"]
        both = [pool.submit(run_side_by_side, RUN, [note(notes, name) for name in own], 1, iter) for own in names]
        assert [one.result() for one in both] == names
    times = [tuple(map(float, path.read_text().split())) for path in notes.iterdir()]
    assert max(sum(begin <= moment < end for begin, end in times) for moment, _ in times) <= 2


def test_a_stage_takes_a_processor_that_another_one_gives_back(notes):
    other = one_of(processors(notes))
    assert other
    with ThreadPoolExecutor() as pool:
        answers = pool.submit(run_side_by_side, RUN, [meet(notes, "a"), meet(notes, "b")], 1, iter)
        while not (begun := list(notes.iterdir())):
            time.sleep(0.05)
        time.sleep(0.5)
        assert begun == list(notes.iterdir()) == [notes / "a"]
        other.close()
        assert answers.result() == ["met", "met"]


def test_a_stage_waits_while_others_have_all_processors(notes):
    others = [one_of(processors(notes)) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(run_side_by_side, RUN, [note(notes, "a")], 1, iter)
        time.sleep(0.5)
        assert not list(notes.iterdir())
        for other in others:
            assert other
            other.close()
        assert answer.result() == ["a"]


def test_a_task_that_fails_gives_its_processor_back(notes):
    with pytest.raises(TypeError):
        run_side_by_side(RUN, [None], 1, iter)
    others = [one_of(processors(notes)) for _ in range(2)]
    assert all(others)
    for other in others:
        assert other
        other.close()
