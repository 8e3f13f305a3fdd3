"""Notebooks: what a cell gives, what one that raises does, and that those of the tree have outputs."""

from __future__ import annotations

import json

from by_path import load

notebooks = load("tools/ship/notebooks.py")


def test_outputs_of_a_cell():
    names = {"a": 2}
    assert notebooks.outputs_of("b = a + 1\nprint(b)\nb * 2", names) == [
        {"name": "stdout", "output_type": "stream", "text": ["3\n"]},
        {"data": {"text/plain": ["6"]}, "metadata": {}, "output_type": "display_data"},
    ]
    assert names["b"] == 3 and notebooks.outputs_of("x = 1", names) == []
    assert notebooks.outputs_of("None", names) == []


def test_cell_that_raises_is_named(tmp_path, capsys):
    cells = [{"cell_type": "code", "source": ["1 / 0"], "outputs": [], "execution_count": None}]
    (tmp_path / "wrong.ipynb").write_text(json.dumps({"cells": cells}))
    assert notebooks.run(tmp_path / "wrong.ipynb", False) == 1
    said = capsys.readouterr().out
    assert "wrong.ipynb: cell 1 of code raised" in said and "ZeroDivisionError" in said


def test_notebooks_keep_what_they_print():
    paths = sorted(notebooks.FOLDER.glob("*.ipynb"))
    assert len(paths) >= 3
    for path in paths:
        book = json.loads(path.read_text())
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1)), path
        assert sum(bool(cell["outputs"]) for cell in code) >= len(code) // 2, path
        assert "Traceback" not in path.read_text()
