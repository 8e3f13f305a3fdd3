"""Rows of the noxfile: what a command becomes, and what its scripts are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import by_path
import pytest

sessions = by_path.load("tools/hold/sessions.py")
ROOT = Path(__file__).parents[2]


def test_words_of_a_command():
    filled = {"tmp": "/t", "bin": "/b", "time": "7"}
    words = sessions.words("python x.py '{tmp}/a b' {} --seed {time}", ["-k", "two words"], filled)
    assert [*words] == ["python", "x.py", "/t/a b", "-k", "two words", "--seed", "7"]


def test_an_option_that_no_row_has_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'need'"):
        sessions.row("x", "What it shows.", need=())


def test_scripts_of_the_noxfile_and_of_ci_exist():
    text = (ROOT / "noxfile.py").read_text().replace("{HUNT}", "tools/hunt")
    scripts = {*re.findall(r"(?:tools|benchmarks|examples)/[\w/]+\.py", text)}
    assert len(scripts) > 50 and [name for name in scripts if not (ROOT / name).exists()] == []


def lines_of_ci() -> list[str]:
    text = (ROOT / ".ci" / "run").read_text()
    return text.partition("<<'LINES'\n")[2].partition("\nLINES\n")[0].splitlines()


def test_lines_of_ci_name_sessions_each_once():
    text = (ROOT / "noxfile.py").read_text()
    known = {*re.findall(r'row\("([\w-]+)"', text), *re.findall(r'session\(name="([\w-]+)"', text)}
    known |= {*re.findall(r"^def (\w+)\(session", text, re.M)}
    named = [line.partition(" -- ")[0].split() for line in lines_of_ci()]
    assert len(named) > 30 and [n for names in named for n in names if n not in known] == []
    assert len({*lines_of_ci()}) == len(named)


def test_the_noxfile_stays_a_list():
    assert (ROOT / "noxfile.py").read_text().count("\n") <= 350


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        ([], ([], [])),
        (["--calls", "7"], ([], ["--calls", "7"])),
        (["--part", "0/4", "x"], (["--part", "0/4"], ["x"])),
        (["x", "--part", "0/4"], (["--part", "0/4"], ["x"])),
    ],
)
def test_an_option_is_taken_with_its_value(words, taken):
    assert sessions.taken(words, "--part", 1) == taken


def test_what_nox_lists_of_a_session_is_a_sentence():
    """`nox -l` shows the first line of a docstring."""
    tree = ast.parse((ROOT / "noxfile.py").read_text())
    functions = [
        one for one in tree.body if isinstance(one, ast.FunctionDef) and one.decorator_list
    ]
    lines = {one.name: (ast.get_docstring(one) or "").partition("\n")[0] for one in functions}
    assert (
        len(lines) > 10 and [name for name, line in lines.items() if not line.endswith(".")] == []
    )
