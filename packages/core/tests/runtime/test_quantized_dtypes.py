"""Plain memory of a quantized dtype has no scale, so there is none: whatever would make it refuses."""

from __future__ import annotations

import pytest

import taeda

DTYPES = [taeda.quint8, taeda.qint8, taeda.qint32, taeda.quint4x2, taeda.quint2x4]
X = taeda.ones(2, 2)
MAKES = {
    "empty": lambda d: taeda.empty(2, dtype=d),
    "empty_strided": lambda d: taeda.empty_strided((2,), (1,), dtype=d),
    "zeros": lambda d: taeda.zeros(2, dtype=d),
    "ones": lambda d: taeda.ones(2, dtype=d),
    "full": lambda d: taeda.full((2,), 1.0, dtype=d),
    "tensor": lambda d: taeda.tensor([1.0], dtype=d),
    "as_tensor": lambda d: taeda.as_tensor([1], dtype=d),
    "arange": lambda d: taeda.arange(3, dtype=d),
    "eye": lambda d: taeda.eye(2, dtype=d),
    "rand": lambda d: taeda.rand(2, dtype=d),
    "linspace": lambda d: taeda.linspace(0, 1, 3, dtype=d),
    "empty_like": lambda d: taeda.empty_like(X, dtype=d),
    "zeros_like": lambda d: taeda.zeros_like(X, dtype=d),
    "new_tensor": lambda d: X.new_tensor([1.0], dtype=d),
    "new_zeros": lambda d: X.new_zeros(2, dtype=d),
    "to": lambda d: X.to(d),
    "type": lambda d: X.type(d),
    "view": lambda d: taeda.ones(4, dtype=taeda.uint8).view(d),
    "sum": lambda d: X.sum(dtype=d),
    "frombuffer": lambda d: taeda.frombuffer(bytearray(8), dtype=d),
    "asarray": lambda d: taeda.asarray([1.0], dtype=d),
    "scalar_tensor": lambda d: taeda.scalar_tensor(1.0, dtype=d),
    "meta": lambda d: taeda.ones(2, dtype=d, device="meta"),
    "sparse": lambda d: taeda.sparse_coo_tensor([[0]], [1.0], dtype=d),
    "parameter": lambda d: taeda.nn.Linear(2, 2).to(d),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", MAKES)
def test_none_is_made(name, dtype):
    with pytest.raises((RuntimeError, TypeError, NotImplementedError, ValueError)) as refusal:
        MAKES[name](dtype)
    text = str(refusal.value).lower()
    assert str(dtype).rpartition(".")[2] in text or "float" in text
