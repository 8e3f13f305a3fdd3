"""Attributes that are views, and answers about devices and layouts."""

from __future__ import annotations

import numpy as np
import pytest

import taeda


def test_views_share_memory():
    x = taeda.tensor([[1 + 2j, 3 - 1j], [0j, 5j]])
    n = x.numpy()
    for name, want in (("T", n.T), ("mT", n.T), ("H", n.T.conj()), ("mH", n.T.conj()),
        ("real", n.real), ("imag", n.imag)):  # fmt: skip
        view = getattr(x, name)
        assert np.array_equal(view.resolve_conj().numpy(), want), name
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x.imag.zero_()
    assert x.tolist() == [[1, 3], [0, 0]]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_devices(device):
    x = taeda.ones(1, device=device)
    assert (x.is_cpu, x.is_meta, x.is_cuda) == (device == "cpu", device == "meta", False)
    for name in ("is_sparse", "is_quantized", "is_mkldnn", "is_nested", "is_xla", "volatile"):
        assert getattr(x, name) is False
    assert x.name is None


def test_a_subclass_is_asked():
    told = []

    class Loud(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    assert taeda.ones(2).as_subclass(Loud).is_cpu
    assert told[-1] == taeda.Tensor.is_cpu.__get__


@pytest.mark.parametrize("value", [3.0, [5.0, 6.0]], ids=["number", "tensor"])
def test_parts_are_written_through_their_views(value):
    given = value if isinstance(value, float) else taeda.tensor(value)
    told = [value] * 2 if isinstance(value, float) else value
    z = taeda.tensor([1 + 2j, 3 + 4j])
    z.real = given
    assert z.tolist() == [complex(told[0], 2), complex(told[1], 4)]
    z.imag = given
    assert z.tolist() == [complex(x, x) for x in told]
    r = taeda.zeros(2)
    r.real = given
    assert r.tolist() == told
    with pytest.raises(RuntimeError, match="imag"):
        r.imag = given
    leaf = taeda.zeros(2, dtype=taeda.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.real = given
    inner = leaf * 1
    inner.real = given
    inner.imag.sum().backward()
    assert leaf.grad.tolist() == [1j, 1j]
