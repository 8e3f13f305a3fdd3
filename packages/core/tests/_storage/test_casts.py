"""What storages can become, and what they are not."""

from __future__ import annotations

import pytest

import taeda
from taeda import UntypedStorage

CASTS = {
    "double": taeda.float64, "half": taeda.float16, "bfloat16": taeda.bfloat16, "long": taeda.int64,
    "short": taeda.int16,
    "char": taeda.int8, "byte": taeda.uint8, "bool": taeda.bool, "complex_float": taeda.complex64,
    "int": taeda.int32,
    "complex_double": taeda.complex128, "float": taeda.float32, "float8_e5m2": taeda.float8_e5m2,
    "float8_e4m3fn": taeda.float8_e4m3fn,
}  # fmt: skip


@pytest.mark.parametrize("method", CASTS)
def test_conversions(method):
    source = taeda.FloatStorage([0, 1, 2])
    made = getattr(source, method)()
    assert made.dtype is CASTS[method]
    assert made.tolist() == taeda.tensor([0, 1, 2]).to(CASTS[method]).tolist()
    assert made.data_ptr() != source.data_ptr()
    raw = getattr(UntypedStorage([0, 1, 2]), method)()
    assert raw.dtype is CASTS[method]
    assert raw.tolist() == made.tolist()


def test_facts_and_places():
    for s in (taeda.FloatStorage(2), UntypedStorage(2)):
        assert s.to(device="cpu") is s is s.cpu()
        assert (s.is_cuda, s.is_hpu, s.is_sparse, s.is_pinned(), s.get_device()) == (
            False,
            False,
            False,
            False,
            None,
        )
        assert s.resizable()
        assert s.to(device="meta").device.type == "meta"
        assert "device=meta" in repr(s.to(device="meta"))
        for name in ("cuda", "hpu", "mps", "pin_memory"):
            with pytest.raises(RuntimeError):
                getattr(s, name)()
        assert not s.is_shared()
        assert s.share_memory_() is s
        assert s.is_shared()
        assert not s.resizable()
    assert UntypedStorage(3).new().nbytes() == 0


def test_memory_of_an_array_is_not_resizable():
    import numpy as np

    for owner in (
        taeda.from_numpy(np.ones(2)),
        taeda.frombuffer(bytearray(8), dtype=taeda.float32),
    ):
        storage = owner.untyped_storage()
        assert not storage.resizable()
        with pytest.raises(RuntimeError, match="another owner"):
            storage.resize_(100)


def test_a_tensor_of_an_untyped_storage_reads_its_bytes_in_the_dtype():
    x = taeda.tensor([1.0, 2.0, 3.0])
    made = taeda.tensor(x.untyped_storage(), dtype=taeda.float32)
    assert made.tolist() == [1.0, 2.0, 3.0]
    assert made.data_ptr() != x.data_ptr()
    assert taeda.tensor(x.untyped_storage(), dtype=taeda.uint8).tolist() == list(
        x.untyped_storage()
    )
    assert taeda.tensor(x.untyped_storage()).tolist() == x[:2].view(taeda.int64).tolist()
