"""Facts of source files are found once, and again when the text changes."""

from __future__ import annotations

import by_path
import pytest

facts = by_path.load("tools/hold/facts.py")
calls: list[str] = []


def lines(text, *more):
    calls.append(text)
    for number, line in enumerate(text.splitlines()):
        yield number, line, *more


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """A folder of its own, as if this were a new process."""
    monkeypatch.setattr(facts, "FOLDER", tmp_path)
    forget(monkeypatch)
    calls.clear()


def forget(monkeypatch):
    monkeypatch.setattr(facts, "_asked", {})
    facts._kept.cache_clear()


def test_a_text_is_read_once_by_each_question():
    assert facts.of(lines, "a\nb") == facts.of(lines, "a\nb") == [[0, "a"], [1, "b"]]
    assert facts.of(lines, "a\nb", "x.py") == [[0, "a", "x.py"], [1, "b", "x.py"]]
    assert calls == ["a\nb", "a\nb"]


def test_the_next_process_knows_and_a_change_is_seen(monkeypatch):
    facts.of(lines, "a")
    facts.save()
    forget(monkeypatch)
    assert facts.of(lines, "a") == [[0, "a"]]
    assert facts.of(lines, "b") == [[0, "b"]]
    assert calls == ["a", "b"]


def test_other_tools_read_again(monkeypatch):
    facts.of(lines, "a")
    facts.save()
    forget(monkeypatch)
    monkeypatch.setattr(facts, "_tools", lambda: "changed")
    facts.of(lines, "a")
    assert calls == ["a", "a"]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"tools": 1}'])
def test_a_broken_file_is_nothing(tmp_path, kept):
    name = f"{__name__}.lines"
    (tmp_path / f"{name}.json").write_text(kept)
    assert facts.of(lines, "a") == [[0, "a"]]


def test_one_tree_serves_all_who_ask():
    assert facts.nodes("x = 1")[0] is facts.tree("x = 1")
