"""What a batch looks like on the other side of a worker."""

from __future__ import annotations

import pytest

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
