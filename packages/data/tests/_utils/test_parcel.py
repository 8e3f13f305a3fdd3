"""What a batch looks like on the other side of a worker."""

from __future__ import annotations

import re

import pytest
from every_kind import KINDS

import taeda
from taeda.utils.data import DataLoader


class Forms:
    """Samples are tensors of one form and two sizes: one goes with the message, one beside it."""

    def __init__(self, form):
        self.form = form

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return FORMS[self.form]((3, 4, 4) if i == 0 else (3, 32, 32))


def _numbers(*sizes):
    return taeda.arange(float(taeda.Size(sizes).numel())).reshape(sizes)


FORMS = {
    "row-major": lambda size: _numbers(2, *size),
    "channels last": lambda size: _numbers(2, *size).to(memory_format=taeda.channels_last),
    "turned": lambda size: _numbers(*size).permute(2, 0, 1),
    "transposed": lambda size: _numbers(*size)[0].t(),
    "number": lambda size: taeda.tensor(3.0),
    "bytes": lambda size: _numbers(*size).to(taeda.uint8).permute(1, 2, 0),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_memory_is_kept_whatever_the_size(form):
    data = Forms(form)
    batches = list(DataLoader(data, None, num_workers=1))
    for sent, wanted in zip(batches, [data[0], data[1]], strict=True):
        assert sent.stride() == wanted.stride()
        assert sent.dtype == wanted.dtype
        assert sent.tolist() == wanted.tolist()


class Kinds:
    """Two samples of one kind."""

    def __init__(self, kind):
        self.kind = kind

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return KINDS[self.kind]()


def _text(x):
    """Without the number that a ragged size has in its process."""
    return re.sub(r"\bj\d+\b", "j", repr(x))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_from_a_worker(kind):
    KINDS[kind]()  # a package that is not installed is said here
    (sent,) = DataLoader(Kinds(kind), 2, num_workers=1, collate_fn=list)
    for made in sent:
        assert _text(made) == _text(KINDS[kind]())


@pytest.mark.parametrize("kind", ["coordinates", "quantized", "masked"])
def test_kinds_are_stacked_by_default(kind):
    want = taeda.stack([KINDS[kind](), KINDS[kind]()])
    for workers in (0, 1):
        (made,) = DataLoader(Kinds(kind), 2, num_workers=workers)
        assert repr(made) == repr(want)
