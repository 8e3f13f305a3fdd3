"""Long lines of prose are found and broken; what is no prose stays as it is."""

from __future__ import annotations

import by_path
import pytest

prose = by_path.load("tools/hold/prose.py")
LONG = " ".join(f"word{n}" for n in range(40))
KEPT = [
    f"```\n{LONG}\n```",
    f"| {LONG} | {LONG} |",
    f"# {LONG}",
    "x" * 300,
    f"    {LONG}",
    f"[{'x' * 130}](y)",
]


@pytest.mark.parametrize("text", KEPT, ids=range(len(KEPT)))
def test_what_is_no_prose_stays(text):
    assert prose.long_lines(text) == [] and prose.wrapped(text) == text


@pytest.mark.parametrize("head", ["", "- ", "12. ", "> ", "  - "])
def test_a_paragraph_is_broken_and_keeps_its_words(head):
    text = f"before\n\n{head}{LONG}\n{head if head == '> ' else ' ' * len(head)}end\n\nafter\n"
    made = prose.wrapped(text)
    assert prose.long_lines(text) == [3] and prose.long_lines(made) == []
    assert made.replace("> ", "").split() == text.replace("> ", "").split()
    assert prose.wrapped(made) == made
    lines = made.splitlines()[2:-2]
    assert len(lines) > 2 and all(line.startswith(head[:1]) for line in lines if head == "> ")


def test_items_stay_apart():
    text = f"- {LONG}\n- short\n- {LONG}"
    assert [line[:2] for line in prose.wrapped(text).splitlines()].count("- ") == 3


def test_no_line_begins_with_a_sign_of_markdown():
    text = f"{'x' * 118} 0. {'y' * 30} and {'z' * 80} - {LONG}"
    assert all(not line.startswith(("0.", "- ")) for line in prose.wrapped(text).splitlines())


def test_code_is_not_broken():
    text = f"{'x' * 110} `pip install -v` {'y' * 30}"
    assert "`pip install -v`" in prose.wrapped(text) and len(prose.wrapped(text).splitlines()) == 2


def test_breaks_that_mean_something_stay():
    text = f"{LONG}  \nnext"
    assert prose.wrapped(text) == text
