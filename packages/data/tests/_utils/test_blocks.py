"""Views of one memory in one batch: still views of one in the parent."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils.data import DataLoader
from taeda.utils.data._utils.blocks import blocks_of


def overlapping(size):
    t = taeda.arange(float(size))
    return {"whole": t, "parts": [t[: size // 2], t[size // 4 :], t.view(-1, 4).t()]}


def sent(make, *arguments):
    """What the parent gets of a batch that a worker makes."""
    [batch] = DataLoader([0], None, collate_fn=lambda _: make(*arguments), num_workers=1)
    return batch


@pytest.mark.parametrize("size", [40, 4000])  # with the message, and beside it
def test_what_is_written_to_one_is_seen_in_the_others(size):
    batch = sent(overlapping, size)
    wanted = overlapping(size)
    for one in (batch, wanted):
        one["parts"][0][size // 3] = -1
    for got, meant in zip(
        [batch["whole"], *batch["parts"]], [wanted["whole"], *wanted["parts"]], strict=True
    ):
        assert got.stride() == meant.stride()
        assert got.tolist() == meant.tolist()


def test_dtypes_and_offsets():
    def make():
        t = taeda.arange(4096, dtype=taeda.int64)
        return t, t[5:2000], t.view(taeda.int32)[3:900], t.view(taeda.uint8)[77:999:3]

    for got, meant in zip(sent(make), make(), strict=True):
        assert got.dtype is meant.dtype
        assert got.tolist() == meant.tolist()


def test_a_thousand_views_are_one_block():
    views = sent(lambda: list(taeda.arange(100_000.0).view(1000, 100).unbind()))
    assert len({v.untyped_storage().data_ptr() for v in views}) == 1
    assert [v[0].item() for v in views] == [100.0 * i for i in range(1000)]


def test_leaves_keep_their_flag():
    def make():
        t = taeda.zeros(1000)
        return t[:600].requires_grad_(), t[300:]

    first, second = sent(make)
    assert (first.requires_grad, second.requires_grad) == (True, False)


def test_what_lies_apart_is_sent_alone():
    big = taeda.zeros(1_000_000)
    assert blocks_of([big[:10], big[500_000:500_010]]) == {}
    assert blocks_of([big[:10], big[:10].clone(), 3, None, "x"]) == {}
    columns = big.view(1000, 1000)
    assert blocks_of([columns[:, 0], columns[:, 5]]) == {}  # a block would be all of it
    assert blocks_of(({"a": big[:10]}, [big[10:20]])).keys() != set()
    assert blocks_of([big[:0], big[:0]]) == {}
    one = big[:10]
    assert blocks_of([one, one]) == {}  # the same object is pickled once anyway
