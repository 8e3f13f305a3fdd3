"""Memory shared with torch, both ways, through DLPack."""

from __future__ import annotations

import gc

import pytest
import torch

import taeda
from taeda._native import core

DTYPES = """
bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32
complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu
""".split()
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf")
LAYOUTS = {
    "contiguous": lambda x: x,
    "turned": lambda x: x.t(),
    "every second": lambda x: x[:, ::2],
    "offset": lambda x: x[1:, 1],
    "scalar": lambda x: x[1, 1],
    "empty": lambda x: x[:0],
    "spread": lambda x: x[:1].expand(3, 4),
}


def made(library, dtype):
    return library.arange(12).reshape(3, 4).to(library.uint8).to(getattr(library, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("giver", ["torch", "taeda"])
def test_the_same_memory_on_both_sides(dtype, layout, giver):
    source, taker = (torch, taeda) if giver == "torch" else (taeda, torch)
    x = LAYOUTS[layout](made(source, dtype))
    y = taker.from_dlpack(x)
    assert str(y.dtype).split(".")[1] == dtype
    assert tuple(y.shape) == tuple(x.shape)
    if x.numel():
        assert y.stride() == x.stride() and y.data_ptr() == x.data_ptr()
    back = source.from_dlpack(y)
    assert back.dtype == x.dtype and back.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_capsules_of_both_forms(version):
    y = taeda.from_dlpack(torch.arange(3.0).__dlpack__(max_version=version))
    gc.collect()
    assert y.tolist() == [0, 1, 2]
    z = torch.from_dlpack(taeda.arange(3.0).__dlpack__(max_version=version))
    gc.collect()
    assert z.tolist() == [0, 1, 2]


def test_torch_gives_memory_back():
    before = core.memory_stats()["allocated"]
    for _ in range(10):
        assert torch.from_dlpack(taeda.ones(100_000)).sum() == 100_000
    assert core.memory_stats()["allocated"] - before < 100_000


REFUSALS = {
    "gradient": lambda lib: lib.ones(2, requires_grad=True).__dlpack__(),
    "conj": lambda lib: lib.ones(2, dtype=lib.complex64).conj().__dlpack__(),
    "meta": lambda lib: lib.ones(2, device="meta").__dlpack__(),
    "meta device": lambda lib: lib.ones(2, device="meta").__dlpack_device__(),
    "stream": lambda lib: lib.ones(2).__dlpack__(stream=1),
    "kind of stream": lambda lib: lib.ones(2).__dlpack__(stream="a"),
    "no capsule": lambda lib: lib.from_dlpack(3),
    "capsule and copy": lambda lib: lib.from_dlpack(lib.ones(2).__dlpack__(), copy=True),
}


@pytest.mark.parametrize("call", REFUSALS.values(), ids=REFUSALS)
def test_the_same_refusals(call):
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(theirs.type):
        call(taeda)
