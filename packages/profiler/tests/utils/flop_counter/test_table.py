"""Counts as a table."""

import pytest
from flop_counts import counted

import taeda
from taeda.utils.flop_counter import FlopCounterMode

nn = pytest.importorskip("taeda.nn", reason="layers and their gradients are counted")


def test_the_table_is_printed_unless_told_otherwise(capsys):
    with FlopCounterMode(depth=1) as counter:
        nn.Sequential(nn.Linear(300, 400))(taeda.zeros(50, 300))
    text = capsys.readouterr().out
    assert (
        "Global" in text
        and "aten.linear" in text
        and "12.000M" in text
        and "Sequential.0" not in text
    )
    assert "Sequential.0" in counter.get_table(2)
    counted(lambda: None)
    assert capsys.readouterr().out == ""
