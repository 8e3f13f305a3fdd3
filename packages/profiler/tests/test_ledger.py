"""Blocks by line, and the peak."""

import taeda
from taeda.profiler._blocks import deliver, listen, stop_listening
from taeda.profiler._ledger import Ledger, Origin


def filled():
    ledger = Ledger(100)
    ledger.origin = Origin("a.py:1", "aten::add", "Net")
    ledger.block(1, 0x10, 1000)
    ledger.origin = Origin("b.py:2", "aten::mul", "Net.Linear")
    ledger.block(2, 0x20, 3000)
    ledger.block(3, 0x10, -1000)
    return ledger


def test_who_holds_what():
    ledger = filled()
    assert ledger.total == 3100 and ledger.by("place") == [("b.py:2", 3000, 1)]
    assert ledger.by("module") == [("Net.Linear", 3000, 1)]


def test_the_peak_is_told_by_line():
    peak = filled().peak
    assert (peak.size, peak.when) == (4100, 2)
    assert peak.by_place == {"(before the recording)": 100, "a.py:1": 1000, "b.py:2": 3000}


def test_what_was_there_before_may_go():
    ledger = filled()
    ledger.block(4, 0x99, -60)
    assert ledger.before == 40 and ledger.total == 3040


def test_every_block_is_heard_in_order():
    first, second = Ledger(), Ledger()
    listen(first)
    try:
        x = taeda.ones(1000)
        listen(second)
        y = taeda.ones(500)
        del x
        stop_listening(first)
        z = taeda.ones(250)
        deliver()
    finally:
        stop_listening(second)
        stop_listening(first)
    assert [held.size for held in first.live.values()] == [2000]
    assert [held.size for held in second.live.values()] == [2000, 1000]
    assert (first.total, second.total) == (2000, -1000) and (y.numel(), z.numel()) == (500, 250)


def test_nobody_listens_nothing_is_kept():
    from taeda._core_api.runtime import memory_noted

    taeda.ones(1000)
    assert memory_noted() == (0, [])
