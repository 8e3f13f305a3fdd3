from __future__ import annotations

import json

from taeda.utils.benchmark.__main__ import main

QUICK = ["--rounds", "2", "--seconds", "0.01"]


def test_statements_are_compared(capsys, tmp_path):
    out = tmp_path / "times.json"
    status = main(
        ["x + 1", "--vs", "x - 1", "--setup", "x = taeda.ones(2)", "--json", str(out), *QUICK]
    )
    lines = capsys.readouterr().out.splitlines()
    assert status == 0
    assert [line.split()[0] for line in lines[1:3]] == ["x", "x"]
    assert [row["task"]["stmt"] for row in json.loads(out.read_text())] == ["x + 1", "x - 1"]


def test_the_statements_own_error_is_shown(capsys):
    assert main(["1 / 0", *QUICK]) == 1
    assert capsys.readouterr().err == "ZeroDivisionError: division by zero\n"
