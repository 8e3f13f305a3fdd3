"""The matrix of faults is as large as promised, its programs are valid, and what is not said is found."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[1] / "hunt"
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "testing")]
import faults  # noqa: E402 - found through the line above
from ranks import Ended  # noqa: E402

CASE = faults.Case("all_reduce", "kill", 2)
WELL = "DistPeerDiedError 0.1\ncollective 7, all_reduce(SUM) at program.py:9: the process of rank 1 has ended"


def test_there_are_at_least_two_hundred():
    assert len(faults.cases()) >= 200
    assert len({str(case) for case in faults.cases()}) == len(faults.cases())


def test_every_program_is_valid():
    for case in faults.cases():
        ast.parse(case.program())


def test_what_is_wrong_is_found():
    assert faults.wrong(CASE, Ended(3, WELL, ""), 5) == ""
    assert "ended with 0" in faults.wrong(CASE, Ended(0, "", ""), 5)
    assert "waited" in faults.wrong(CASE, Ended(3, WELL.replace("0.1", "6.5"), ""), 5)
    for word in ("rank 1", "program.py:", "collective 7"):
        assert "does not say" in faults.wrong(CASE, Ended(3, WELL.replace(word, ""), ""), 5)
