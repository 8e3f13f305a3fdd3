from __future__ import annotations

import math

import pytest

from taeda.utils.benchmark import select_unit, trim_sigfig, unit_to_english
from taeda.utils.benchmark._units import spelled_bytes, spelled_time


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [
        (0.0, "ns"),
        (3e-12, "ns"),
        (1e-6, "us"),
        (9.99e-4, "us"),
        (1e-3, "ms"),
        (1.0, "s"),
        (1e4, "s"),
    ],
)
def test_the_unit_that_reads_best(seconds, unit):
    assert select_unit(seconds)[0] == unit


def test_words_of_units():
    assert [unit_to_english(u) for u in ("ns", "ms")] == ["nanosecond", "millisecond"]


@pytest.mark.parametrize(
    ("x", "n", "wanted"),
    [
        (1234.5, 2, 1200.0),
        (0.0129, 1, 0.01),
        (-98.7, 2, -99.0),
        (0.0, 3, 0.0),
        (math.inf, 2, math.inf),
    ],
)
def test_trim_sigfig(x, n, wanted):
    assert trim_sigfig(x, n) == wanted


def test_trim_sigfig_keeps_a_figure():
    with pytest.raises(ValueError, match="n=0"):
        trim_sigfig(1.0, 0)


def test_spelling():
    assert [spelled_time(t) for t in (2.5e-9, 0.02)] == ["2.50 ns", "20.00 ms"]
    assert [spelled_bytes(n) for n in (1, 1023, 1 << 20, 1 << 45)] == [
        "1 B",
        "1.02e+03 B",
        "1 MiB",
        "3.28e+04 GiB",
    ]
