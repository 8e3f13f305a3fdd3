"""What a failed allocation raises, wherever it fails."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda._native import core

WORK = {
    "factory": lambda: taeda.zeros(100),
    "pointwise": lambda: taeda.ones(100) + 1,
    "product": lambda: taeda.ones(40, 40) @ taeda.ones(40, 40),
    "convolution": lambda: taeda.conv2d(taeda.ones(1, 2, 9, 9), taeda.ones(3, 2, 3, 3)),
    "sorting": lambda: taeda.ones(100).sort(),
    "composite": lambda: taeda.cdist(taeda.ones(5, 3), taeda.ones(4, 3)),
    "from a list": lambda: taeda.tensor([1.0, 2.0]),
    "in-place": lambda: taeda.ones(9).index_add_(0, taeda.arange(9), taeda.ones(9)),
    "written by indices": lambda: taeda.ones(5, 4).index_put_(
        [taeda.tensor([1, 0])], taeda.ones(4)
    ),
    "overloads": lambda: taeda.sum(taeda.ones(3, 3), 0),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_every_failed_allocation(work):
    failed, count = 0, 1
    while True:
        core.memory_fail_at(count)
        try:
            work()
        except taeda.OutOfMemoryError:
            failed, count = failed + 1, count + 1
            continue
        finally:
            core.memory_fail_at(0)
        break
    assert failed


def test_more_than_there_is():
    for error in (taeda.OutOfMemoryError, taeda.cuda.OutOfMemoryError, MemoryError, RuntimeError):
        with pytest.raises(error, match="memory"):
            taeda.empty(1 << 58, dtype=taeda.uint8)


def test_it_is_one_type_with_one_name():
    assert taeda.OutOfMemoryError is taeda.cuda.OutOfMemoryError
    assert issubclass(taeda.OutOfMemoryError, (RuntimeError,)) and issubclass(
        taeda.OutOfMemoryError, MemoryError
    )
    error = pickle.loads(pickle.dumps(taeda.OutOfMemoryError("full")))
    assert type(error) is taeda.OutOfMemoryError and str(error) == "full"
