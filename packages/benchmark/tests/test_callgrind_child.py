"""The process that Callgrind watches: its task from a file, its loop in the counted region."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda.utils.benchmark import _callgrind_child as child


def test_setup_and_statement_share_their_variables():
    values = {"log": []}
    inner = child.compile_task("a = 1\nb = 2", "log.append(a + b)\na += 1", values)
    steps = inner(range(3))
    next(steps)
    assert values["log"] == []
    next(steps)
    assert values["log"] == [3, 4, 5]
    with pytest.raises(StopIteration):
        next(steps)


def test_a_statement_that_is_no_python_is_refused():
    with pytest.raises(SyntaxError, match=r"<statement>|invalid"):
        child.compile_task("pass", "for", {})


def test_a_task_runs_from_its_file_within_the_region(tmp_path, monkeypatch):
    regions, log = [], tmp_path / "log"
    monkeypatch.setattr(child._core, "measured_region", lambda step: (regions.append(1), step())[1])
    monkeypatch.setattr(child.taeda, "set_num_threads", lambda n: regions.append(f"{n} threads"))
    task = {
        "globals": [("x", "import pathlib", pickle.dumps(taeda.ones(2)))], "threads": 3, "number": 4,
        "setup": "path = "
        f"{str(log)!r}", "stmt": "with open(path, 'a') as file:\n    file.write(str(x.sum().item()))",
    }  # fmt: skip
    (tmp_path / "task").write_bytes(pickle.dumps(task))
    child.main(str(tmp_path / "task"))
    assert regions == ["3 threads", 1]
    before = 2  # runs that are not counted, for what happens once
    assert log.read_text() == "2.0" * (before + 4)
