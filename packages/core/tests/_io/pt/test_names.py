"""The names that torch writes into its files."""

from __future__ import annotations

import pytest

import taeda
from taeda._io.pt import names
from taeda._io.pt.context import Known, StorageType
from taeda._io.pt.errors import RefusedPickle


def test_every_name_stands_for_something_of_ours():
    for key, found in names.KNOWN.items():
        module, _, name = key.partition(" ")
        assert names.find(module, name) is found
        assert isinstance(found, (Known, StorageType, taeda.dtype, taeda.qscheme)), key
        if isinstance(found, Known):
            assert found.name == key


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("torch.tensor", "_rebuild_from_type_v2"), ("torch._tensor", "_rebuild_from_type_v2")),
        (("torch.nn", "Parameter"), ("torch.nn.parameter", "Parameter")),
        (("torch.cuda", "FloatStorage"), ("torch", "FloatStorage")),
        (("__builtin__", "set"), ("builtins", "set")),
        (("numpy.core.multiarray", "scalar"), ("numpy._core.multiarray", "scalar")),
    ],
)
def test_modules_that_had_another_name(old, new):
    assert names.find(*old) is names.find(*new) is not None


@pytest.mark.parametrize(
    "name", ["os system", "builtins eval", "builtins getattr", "torch load", "torch jit"]
)
def test_nothing_else_is_known(name):
    assert names.find(*name.split()) is None


def test_storages_and_dtypes():
    assert names.find("torch", "BFloat16Storage").dtype is taeda.bfloat16
    assert names.find("torch", "QInt8Storage").dtype is taeda.qint8
    assert names.find("torch", "QUInt2x4Storage").dtype is taeda.quint2x4
    assert names.find("torch", "per_tensor_affine") is taeda.per_tensor_affine
    assert names.find("torch", "int16") is taeda.int16
    for dtype, name in names.STORAGE_OF.items():
        assert names.find("torch", name).dtype is dtype


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch Tensor", "a type is called that can only be named"),
        ("torch._utils _rebuild_nested_tensor", "a nested tensor"),
        ("torch._utils _rebuild_wrapper_subclass", "a class of its own"),
    ],
)
def test_what_is_known_to_be_refused(name, words):
    with pytest.raises(RefusedPickle, match=words):
        names.find(*name.split()).make((), None)
