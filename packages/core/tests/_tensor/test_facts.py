"""Questions about tensors and about the build."""

from __future__ import annotations

import pytest

import taeda
from taeda import overrides


def test_bits_of_tensors():
    z = taeda.ones(2, dtype=taeda.complex64).conj()
    assert taeda.is_conj(z) and not taeda.is_conj(z.resolve_conj())
    assert taeda.is_neg(z.imag) and not taeda.is_neg(z.real)
    assert taeda.is_signed(taeda.ones(1)) and not taeda.is_signed(taeda.ones(1, dtype=taeda.uint8))
    assert not taeda.is_inference(z)


@pytest.mark.parametrize("name", ["is_conj", "is_neg", "is_inference", "is_signed"])
def test_only_tensors_have_them(name):
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input'.*not int"):
        getattr(taeda, name)(3)


def test_names_of_types():
    assert taeda.typename(taeda.ones(1)) == "taeda.FloatTensor"
    assert taeda.typename(taeda.ones(1, dtype=taeda.int64)) == "taeda.LongTensor"
    assert taeda.typename(3) == "int" and taeda.typename(int) == "int"
    assert taeda.typename(overrides.TorchFunctionMode) == "taeda.overrides.TorchFunctionMode"
    assert taeda.typename(taeda.Tensor) == "taeda.Tensor"


def test_modules_of_devices(monkeypatch):
    for there, module in ((True, taeda.cuda), (False, taeda.cpu)):
        monkeypatch.setattr(taeda.cuda, "is_available", lambda there=there: there)
        assert taeda.get_device_module() is module
    assert taeda.get_device_module(taeda.device("cpu")) is taeda.cpu
    with pytest.raises(RuntimeError, match="'meta' does not have a corresponding module"):
        taeda.get_device_module("meta")
    with pytest.raises(RuntimeError, match="fpga2"):
        taeda.get_device_module("fpga2")
    assert taeda.compiled_with_cxx11_abi() is True


def test_tensors_on_files(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(8)))
    private = taeda.from_file(str(path), size=4, dtype=taeda.uint8)
    private[0] = 9
    assert path.read_bytes()[0] == 0 and private.tolist() == [9, 1, 2, 3]
    shared = taeda.from_file(path, shared=True, size=3, dtype=taeda.float32)
    shared.fill_(1.0)
    assert path.stat().st_size == 12
    assert taeda.from_file(path, size=3, requires_grad=True).tolist() == [1, 1, 1]


def test_refused_files(tmp_path):
    with pytest.raises(RuntimeError, match="nothing_here"):
        taeda.from_file(tmp_path / "nothing_here", size=1)
    with pytest.raises(RuntimeError, match="must not be negative, got -1"):
        taeda.from_file(tmp_path / "nothing_here", size=-1)


def test_a_file_is_mapped_on_the_cpu(tmp_path):
    (tmp_path / "data").write_bytes(b"abcd")
    made = taeda.from_file(
        str(tmp_path / "data"), size=4, dtype=taeda.uint8, device=taeda.device("cpu")
    )
    assert made.tolist() == list(b"abcd")
    with pytest.raises(RuntimeError, match="mapped on the cpu, not on meta"):
        taeda.from_file(str(tmp_path / "data"), size=4, dtype=taeda.uint8, device="meta")
