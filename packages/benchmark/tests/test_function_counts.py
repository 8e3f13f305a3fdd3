from __future__ import annotations

import pytest

from taeda.utils.benchmark import FunctionCount, FunctionCounts


def counts(inclusive=False, **values):
    return FunctionCounts(
        [FunctionCount(n, f"{name}.c:{name}") for name, n in values.items()], inclusive
    )


def test_it_is_a_sequence():
    c = counts(f=30, g=5, h=1)
    assert len(c) == 3
    assert c[0] == FunctionCount(30, "f.c:f")
    assert c[-1].count == 1
    assert c[1:] == counts(g=5, h=1)
    assert [count for count, _ in c] == [30, 5, 1]


def test_adding_joins_names():
    assert counts(f=30, g=5) + counts(g=26, h=1) == counts(g=31, f=30, h=1)


def test_subtracting_drops_what_cancels():
    assert counts(f=30, g=5) - counts(g=5, h=2) == counts(f=30, h=-2)


def test_two_kinds_do_not_mix():
    with pytest.raises(ValueError, match="inclusive"):
        counts(f=1) + counts(True, f=1)


def test_filter_and_transform():
    c = counts(f=30, g=5, h=1)
    assert c.filter(lambda name: "g" not in name) == counts(f=30, h=1)
    assert c.transform(lambda name: "all").sum() == c.sum() == 36
    assert len(c.transform(lambda name: "all")) == 1


def test_denoise_drops_name_lookups():
    c = FunctionCounts(
        [FunctionCount(9, "Objects/dictobject.c:lookdict_unicode"), FunctionCount(4, "f.c:f")],
        False,
    )
    assert c.denoise().sum() == 4


def test_repr_is_cut_in_the_middle():
    many = FunctionCounts([FunctionCount(100 - i, f"f.c:f{i}") for i in range(60)], False)
    text = repr(many)
    assert "(33 more)" in text
    assert f"Total: {many.sum()}" in text
    assert "f.c:f30" not in text
    whole = FunctionCounts(many, False, truncate_rows=False)
    assert "f.c:f30" in repr(whole)
