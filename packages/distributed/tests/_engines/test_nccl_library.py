"""NCCL's numbers for dtypes and reductions, and what is said where its library is missing."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed import ReduceOp
from taeda.distributed._engines import nccl_library


@pytest.fixture
def no_library(monkeypatch):
    monkeypatch.setenv("TAEDA_LIBNCCL", "/nowhere/libnccl.so.2")
    nccl_library.library.cache_clear()
    yield
    nccl_library.library.cache_clear()


def test_a_missing_library_is_told_with_what_to_install(no_library):
    assert not dist.is_nccl_available() and not dist.is_backend_available("nccl")
    store = dist.HashStore()
    with pytest.raises(dist.DistBackendError, match=r"nvidia-nccl.*/nowhere/libnccl"):
        dist.init_process_group("nccl", store=store, rank=0, world_size=1)
    assert not dist.is_initialized()


@pytest.mark.parametrize(
    ("op", "dtype", "numbers"),
    [
        (ReduceOp.SUM, taeda.float32, (7, 0)),
        (ReduceOp.AVG, taeda.bfloat16, (9, 0)),
        (ReduceOp.PRODUCT, taeda.int64, (4, 1)),
        (ReduceOp.MAX, taeda.float16, (6, 2)),
        (ReduceOp.MIN, taeda.float64, (8, 3)),
        (ReduceOp.SUM, taeda.complex64, (7, 0)),
        (ReduceOp.BOR, taeda.bool, (1, 2)),
        (ReduceOp.PRODUCT, taeda.bool, (1, 3)),
    ],
)
def test_numbers_of_reductions(op, dtype, numbers):
    assert nccl_library.reduction(op, dtype) == numbers


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        (ReduceOp.BAND, taeda.int32),
        (ReduceOp.SUM, taeda.int16),
        (ReduceOp.PRODUCT, taeda.complex64),
        (ReduceOp.BXOR, taeda.bool),
    ],
)
def test_what_nccl_does_not_reduce_is_refused(op, dtype):
    with pytest.raises(ValueError, match=f"no {op.name} of {dtype}"):
        nccl_library.reduction(op, dtype)


def test_every_dtype_of_nccl_has_one_number():
    numbers = [nccl_library.type_of(dtype) for dtype in nccl_library._TYPES]
    assert sorted(numbers) == list(range(10)) and nccl_library.type_of(taeda.int16) is None
