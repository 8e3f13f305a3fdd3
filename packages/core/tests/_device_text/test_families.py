"""Rows of families: each has its text, its text has every kernel, and a work is found by its name."""

from __future__ import annotations

import re

import pytest

from taeda._device_text import ALONE, FAMILIES, TABLES, expand, find, tried

ROWS = [(family, row) for family in ALONE for row in FAMILIES[family].programs]


def test_tables_and_what_is_device_text_alone_are_all():
    assert sorted([*TABLES, *ALONE]) == sorted(FAMILIES)
    assert not any(FAMILIES[name].programs for name in TABLES)
    assert all(FAMILIES[name].programs for name in ALONE)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_text_is_there(family):
    assert (expand.root() / FAMILIES[family].text).is_file()


@pytest.mark.parametrize("family", ALONE)
def test_the_text_has_each_kernel_and_each_work(family):
    headers = expand.headers(FAMILIES[family].text)
    text = "\n".join([expand.kernel(family), *headers.values()])
    for kernel in tried(family):
        for name in re.findall(r"\btd_\w+", kernel):
            words = name.split("_")  # a macro may be given the last of them
            ends = "|".join("_".join(words[k:]) for k in range(len(words)))
            assert re.search(rf"\b({ends})\b", text), f"{FAMILIES[family].text} has no {name}"


@pytest.mark.parametrize(("family", "row"), ROWS)
def test_each_work_is_found_by_its_name(family, row):
    for name in row.names:
        for dtype in row.dtypes:
            found, other = find(row.kind, name, dtype)
            assert found == family
            assert other.symbol_of(name, dtype) == row.symbol_of(name, dtype)


def test_what_is_not_there_is_not_found():
    assert find("conv", "sideways", "F32") is None
    assert find("reduce", "any", "F32") is None
    assert find("reduce", "sum", "I8")[1].symbol_of("sum", "I8") == "td_sum_whole<TD_I8>"
