"""A comment that tears its line apart is found; one that belongs to a line of its own is left alone."""

from __future__ import annotations

import by_path
import pytest

comments = by_path.load("tools/hold/comments.py")

TORN = {
    "a number": "WAIT = (\n    2.0  # seconds for all of them\n)",
    "behind the bracket": "LIMIT = (\n    1 << 20\n)  # bytes",
    "a call": "x = call(\n    a, b\n)  # why",
    "a clause": "try:\n    pass\nexcept (\n    OSError\n):  # it has gone\n    pass",
    "a tuple": "SOME = (\n    1,\n    2,\n)  # these are the slow ones",
    "a type": "x: dict[\n    int, str\n] = {}  # by number",
}
WHOLE = {
    "above": "# seconds\nWAIT = 2.0",
    "behind a line": "WAIT = 2.0  # seconds",
    "behind the opening bracket": "SIZES = {  # of the input\n    1: 2,\n}",
    "behind one of several": "call(\n    a,  # why a\n    b,\n)",
    "a line of its own": "call(\n    # why\n    a,\n)",
    "several": "SIZES = (\n    1,  # one\n    2,  # two\n)",
    "a mark": "x = (\n    1\n)  # fmt: skip",
    "too long anyway": f"x = (\n    {'a' * 60} + {'b' * 60}\n)  # why",
    "a text of several lines": 'x = f(\n    """a\n    b"""\n)  # why',
}


@pytest.mark.parametrize("text", TORN.values(), ids=TORN)
def test_a_torn_statement_is_found(text):
    assert len(list(comments.torn(text))) == 1


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_others_are_left_alone(text):
    assert list(comments.torn(text)) == []
