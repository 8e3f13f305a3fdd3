"""Pickles and copies of tensors: every dtype and layout comes back as it was, with the bytes it
reaches and no more.
"""

from __future__ import annotations

import copy
import pickle

import pytest
from children import Marked

import taeda

DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
        "bfloat16"),
    *("float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
    *("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
]  # fmt: skip
BASE = taeda.arange(24.0).reshape(2, 3, 4)
LAYOUTS = {
    "whole": BASE,
    "permuted": BASE.permute(2, 0, 1),
    "strided": BASE[:, ::2],
    "row": BASE[1],
    "column": BASE[:, :, 3],
    "expanded": BASE[0].expand(5, 3, 4),
    "scalar": BASE[1, 1, 1],
    "empty": BASE[:0],
    "none": taeda.empty(0),
    "channels_last": taeda.arange(96.0).reshape(2, 3, 4, 4).to(memory_format=taeda.channels_last),
}


def facts(x):
    return x.dtype, x.shape, x.stride(), x.device, x.requires_grad, x.is_conj(), x.is_neg()


def through(value, protocol=None):
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_bit_for_bit(name):
    raw = taeda.arange(96, dtype=taeda.uint8) % 2
    x = raw.view(getattr(taeda, name)) if name != "bool" else raw.bool()
    for y in (through(x), copy.deepcopy(x), copy.copy(x)):
        assert facts(y) == facts(x)
        assert y.untyped_storage().tolist() == x.untyped_storage().tolist()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, protocol):
    x = LAYOUTS[layout]
    y = through(x, protocol)
    assert facts(y) == facts(x)
    assert y.tolist() == x.tolist()
    if x.numel():
        assert y.data_ptr() != x.data_ptr()


def test_a_copy_lies_on_the_same_memory():
    for x in LAYOUTS.values():
        assert copy.copy(x).is_set_to(x)


def test_what_is_not_reached_is_not_stored():
    x = taeda.zeros(1_000_000)[3:5]
    assert len(pickle.dumps(x)) < 500
    assert through(x).untyped_storage().nbytes() == 8


def test_lazy_bits():
    z = taeda.tensor([[1 + 2j, 3 - 4j]])
    for x in (z.conj(), z.conj().imag, z.mH):
        y = through(x)
        assert facts(y) == facts(x)
        assert y.tolist() == x.tolist()


def test_meta():
    x = taeda.empty(3, 2, device="meta").t()
    for y in (through(x), copy.copy(x), copy.deepcopy(x)):
        assert facts(y) == facts(x)


def test_requires_grad_and_attributes_but_no_gradient():
    x = taeda.ones(2, requires_grad=True)
    x.sum().backward()
    x.note = {"a": [1]}
    y = through(x)
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad is None
    assert y.note == {"a": [1]}
    deep = copy.deepcopy(x)
    assert deep.grad.tolist() == [1, 1]
    assert deep.note == x.note
    assert deep.note is not x.note
    assert copy.copy(x).note is x.note


def test_a_computed_tensor_becomes_a_leaf():
    y = through(taeda.ones(2, requires_grad=True) * 2)
    assert y.is_leaf
    assert y.requires_grad
    assert y.tolist() == [2, 2]


def test_subclasses():
    x = taeda.arange(6.0).reshape(2, 3).t().as_subclass(Marked)
    x.label = "seven"
    for y in (through(x), copy.copy(x), copy.deepcopy(x)):
        assert type(y) is Marked
        assert y.label == "seven"
        assert y.stride() == x.stride()
        assert y.tolist() == x.tolist()


def test_what_comes_back_is_its_own():
    x = taeda.ones(3)
    y = through(x)
    assert y.resize_(100).shape == (100,)
    assert x.resize_(100).shape == (100,)  # pickling did not pin it


def test_buffers_out_of_band():
    x, buffers = taeda.arange(1000), []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 500
    assert len(buffers) == 1
    x.zero_()
    assert pickle.loads(data, buffers=buffers).sum() == 499500


def test_several_references_are_one_object():
    x = taeda.ones(2)
    a, b = through([x, x])
    assert a is b


@pytest.mark.parametrize(
    "value",
    [
        *(
            taeda.Size([2, 3]),
            taeda.float32,
            taeda.device("meta"),
            taeda.strided,
            taeda.channels_last,
        ),
        *(taeda.finfo(taeda.float32), taeda.iinfo(taeda.int8)),
    ],
    ids=str,
)
def test_small_values(value):
    for made in (through(value), copy.copy(value), copy.deepcopy(value)):
        assert type(made) is type(value)
        assert made == value


def test_generators_go_on_where_they_were():
    source = taeda.Generator().manual_seed(5)
    taeda.rand(3, generator=source)
    copies = [through(source), copy.deepcopy(source)]
    wanted = taeda.rand(3, generator=source).tolist()
    assert all(taeda.rand(3, generator=made).tolist() == wanted for made in copies)


def test_storages():
    x = taeda.arange(3, dtype=taeda.int16)
    assert through(x.untyped_storage()).tolist() == [0, 0, 1, 0, 2, 0]
    assert through(x.storage()).tolist() == [0, 1, 2]
    deep = copy.deepcopy(x.untyped_storage())
    deep[0] = 9
    assert x[0] == 0


def test_a_description_that_reaches_outside_is_refused():
    call, (memory, dtype, _, *rest) = taeda.ones(3).__reduce_ex__(2)
    with pytest.raises(RuntimeError, match="outside of a storage of 12 bytes"):
        call(memory, dtype, ((100,), (1,)), *rest)


@pytest.mark.parametrize(
    ("value", "before"),
    [
        (taeda.finfo(taeda.float32), b"taeda._tensor.facts\nfinfo"),
        (taeda.iinfo(taeda.int8), b"taeda._tensor.facts\niinfo"),
        (taeda.Tag.core, b"taeda._library.tags\nTag"),
    ],
)
def test_pickles_name_public_places_and_old_files_load(value, before):
    kind = type(value)
    raw = pickle.dumps(value, 2)
    place = f"taeda\n{kind.__name__}".encode()
    assert place in raw
    for written in (raw, raw.replace(place, before)):
        found = pickle.loads(written)
        assert type(found) is kind
        assert repr(found) == repr(value)
