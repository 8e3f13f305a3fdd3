from __future__ import annotations

import shutil

import pytest

import taeda
from taeda.utils.benchmark import CopyIfCallgrind, Timer
from taeda.utils.benchmark import callgrind as module

needs_valgrind = pytest.mark.skipif(
    shutil.which("callgrind_annotate") is None,
    reason="Callgrind comes with Valgrind, which is not installed here",
)


@pytest.mark.slow
@needs_valgrind
def test_counts_are_of_the_statement_alone():
    x = CopyIfCallgrind(taeda.ones(8))
    one, three = (
        Timer(stmt, "y = 1", globals={"x": x}).collect_callgrind(number=20, collect_baseline=False)
        for stmt in ("x + y", "x + y\nx + y\nx + y\ny = 2")
    )
    assert one.counts() > 20 * 200  # an addition of tensors takes some thousand instructions
    assert 2.5 < three.counts() / one.counts() < 3.5
    assert any("td_" in name for _, name in one.stats())
    assert not any(
        "/" in name.partition(":")[0].removeprefix("Objects/") and "[" in name
        for _, name in one.as_standardized().stats()
    )
    assert three.delta(one).sum() == three.counts() - one.counts()
    assert "20 runs per measurement, 1 thread" in repr(one)


def test_missing_tools_are_named(monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None if name == "valgrind" else name)
    with pytest.raises(OSError, match="missing: valgrind"):
        Timer("pass").collect_callgrind()


@pytest.mark.parametrize("value", [taeda.ones(2), [1, 2], object()])
def test_values_must_be_marked(monkeypatch, value):
    monkeypatch.setattr(module, "_require_tools", lambda: None)
    with pytest.raises(ValueError, match=r"globals\['x'\].*CopyIfCallgrind"):
        Timer("x", globals={"x": value}).collect_callgrind()


def test_only_what_can_travel_is_marked():
    with pytest.raises(ValueError, match="got function"):
        CopyIfCallgrind(lambda: None)
    assert CopyIfCallgrind({"a": [1, taeda.ones(2)]}).value["a"][0] == 1


def test_a_failing_child_shows_its_words(monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "/nonexistent/python")
    if shutil.which("callgrind_annotate") is None:
        monkeypatch.setattr(module, "_require_tools", lambda: None)
        monkeypatch.setattr(module, "_run", module._run)
    with pytest.raises(OSError, match="valgrind"):
        Timer("pass").collect_callgrind(collect_baseline=False)


ANNOTATED = """\
Ir
--------------------------------------------------------------------------------
1,000 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir             file:function
--------------------------------------------------------------------------------
  900 (90.00%)  /src/Python/ceval.c:eval [/usr/bin/python3]
  100 (10.00%)  ???:td_add [/lib/_core.so]
"""


def test_annotations_are_read(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_run", lambda *command: ANNOTATED)
    found = module._annotated(tmp_path / "out", inclusive=False)
    assert found.sum() == 1000
    assert found.transform(module._without_paths)[0].function == "Python/ceval.c:eval"
