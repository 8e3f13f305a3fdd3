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
