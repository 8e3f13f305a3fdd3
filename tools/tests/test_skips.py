"""A mark that keeps the formatter away is found where no table is, and left where one is."""

from __future__ import annotations

import by_path
import pytest

skips = by_path.load("tools/hold/skips.py")

BARE = {
    "a signature": "def f(a, b,\n      c):  # fmt: skip\n    pass",
    "a call": "f(a, b,\n  c)  # fmt: skip",
    "a result": "def f():\n    return (a + b +\n            c)  # fmt: skip",
    "a comparison": "assert f(a,\n         b) == 2  # fmt: skip",
    "a clause": "with open(a,\n          b) as f:  # fmt: skip\n    pass",
    "a list in one line": "x = [1, 2, 3]  # fmt: skip",
    "two entries": "x = f([a,\n       b])  # fmt: skip",
    "one entry a line": "x = [\n    a,\n    b,\n    c,\n]  # fmt: skip",
    "a table elsewhere": "x = [1, 2,\n     3]\nf(a,\n  b)  # fmt: skip",
}
TABLES = {
    "several a line": "x = [1, 2,\n     3]  # fmt: skip",
    "rows": "x = {\n    a: (1, 2),\n    b: (3, 4),\n    c: (5, 6),\n}  # fmt: skip",
    "within a call": "x = frozenset({1, 2,\n     3})  # fmt: skip",
    "of a decorator": "@mark('x', [1, 2,\n            3])  # fmt: skip\ndef f():\n    pass",
    "of a loop": "for a in (1, 2,\n          3):  # fmt: skip\n    pass",
    "imports": "from a import (\n    b, c,\n    d,\n)  # fmt: skip",
}


@pytest.mark.parametrize("text", BARE.values(), ids=BARE)
def test_a_mark_behind_no_table_is_found_and_taken_away(text):
    assert len(list(skips.marks(text))) == 1
    assert next(skips.check(text, "a.py")).startswith("a.py:")
    assert skips.MARK not in skips._fixed(text)


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_table_keeps_its_mark(text):
    assert list(skips.marks(text)) == []
    assert skips._fixed(text) == text
