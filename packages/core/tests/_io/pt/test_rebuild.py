"""Tensors made of a storage and numbers in a pickle: each number that is not right is refused."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

import taeda
from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt import names, rebuild
from taeda._io.pt.context import Context
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.storages import as_storage

CONTEXT = Context(Budget(1 << 20), Place(None))
META = Context(Budget(1 << 20), Place("meta"))
HERE = Context(Budget(1 << 20), Place("cpu"))
HOOKS = OrderedDict()


def typed(name="Float", count=6, place="cpu"):
    kind = names.find("torch", f"{name}Storage")
    if place == "meta":
        return as_storage(
            taeda.empty(count * kind.dtype.itemsize, dtype=taeda.uint8, device="meta"), kind
        )
    return as_storage(taeda.arange(count).to(kind.dtype).view(taeda.uint8), kind)


def untyped():
    return as_storage(
        taeda.arange(6.0).view(taeda.uint8), names.find("torch.storage", "UntypedStorage")
    )


def integers(name="QInt8", count=6):
    kind = names.find("torch", f"{name}Storage")
    return as_storage(taeda.arange(count).to(taeda.uint8), kind)


def scaled(storage=None, size=(2, 3), scale=(taeda.per_tensor_affine, 0.5, 1), hooks=(HOOKS,)):
    return (storage or integers(), 0, size, (3, 1), scale, False, *hooks)


def known(module, name):
    return names.find(module, name)


V2 = known("torch._utils", "_rebuild_tensor_v2")
TENSOR, PARAMETER = known("torch", "Tensor"), known("torch.nn.parameter", "Parameter")


def v2(offset=0, size=(2, 3), stride=(3, 1), grad=False, hooks=HOOKS, storage=None, **marks):
    return (storage or typed(), offset, size, stride, grad, hooks, *((marks,) if marks else ()))


GOOD = {
    "v1": (lambda: rebuild.tensor_v1((typed(), 1, [2], (2,)), CONTEXT), [1, 3]),
    "v2": (lambda: rebuild.tensor_v2(v2(), CONTEXT), [[0, 1, 2], [3, 4, 5]]),
    "v2 without hooks": (lambda: rebuild.tensor_v2(v2(hooks=None), CONTEXT), [[0, 1, 2], [3, 4, 5]]),
    "v3": (lambda: rebuild.tensor_v3((untyped(), 4, (2,), (1,), False, HOOKS, taeda.float32),
        CONTEXT), [4, 5]),
    "v3 with marks": (
        lambda: rebuild.tensor_v3((untyped(), 4, (2,), (1,), False, HOOKS, taeda.float32,
            {"neg": True}), CONTEXT),
        [-4, -5],
    ),
    "negative": (lambda: rebuild.tensor_v2(v2(0, (2,), (1,), neg=True), CONTEXT), [0, -1]),
    "conjugate": (
        lambda: rebuild.tensor_v2(v2(0, (2,), (1,), storage=typed("ComplexFloat"), conj=True), CONTEXT),
        [0, 1],
    ),
    "a conjugate of reals": (lambda: rebuild.tensor_v2(v2(0, (2,), (1,), conj=True), CONTEXT), [0, 1]),
    "nothing": (lambda: rebuild.tensor_v2(v2(0, (0, 9), (9, 1)), CONTEXT), []),
    "a Parameter": (lambda: rebuild.parameter((taeda.ones(2),), CONTEXT), [1, 1]),
    "a frozen Parameter": (lambda: rebuild.parameter((taeda.ones(2), False, HOOKS), CONTEXT), [1, 1]),
    "with attributes": (
        lambda: rebuild.parameter_with_state((taeda.ones(1), True, HOOKS, {"note": 1}), CONTEXT),
        [1],
    ),
    "of a device": (lambda: rebuild.device_tensor((np.ones(2), taeda.float32, "xla:0", False), HERE), [1, 1]),
    "of a type": (lambda: rebuild.from_type((V2, TENSOR, v2(0, (1,), (1,)), {"note": 2}), CONTEXT), [0]),
}  # fmt: skip


@pytest.mark.parametrize(("make", "wanted"), GOOD.values(), ids=GOOD)
def test_made(make, wanted):
    assert make().tolist() == wanted


def test_what_a_gradient_attributes_and_places_become():
    assert rebuild.tensor_v2(v2(grad=True), CONTEXT).requires_grad
    assert rebuild.parameter((taeda.ones(2),), CONTEXT).requires_grad
    assert not rebuild.parameter((taeda.ones(2), False), CONTEXT).requires_grad
    assert GOOD["with attributes"][0]().note == 1 and GOOD["of a type"][0]().note == 2
    for made in (
        rebuild.tensor_v2(v2(storage=typed(place="meta")), CONTEXT),
        rebuild.meta_tensor((taeda.float32, (2, 3), (3, 1), False), CONTEXT),
        rebuild.device_tensor((np.ones((2, 3)), taeda.float64, "cuda:0", False), META),
    ):
        assert made.device.type == "meta" and made.shape == (2, 3)
    assert rebuild.meta_tensor((taeda.float32, (2,), (1,), True), CONTEXT).requires_grad
    assert rebuild.device_tensor((taeda.ones(2), taeda.float64, "mps", True), HERE).requires_grad


def test_a_device_that_is_not_here_is_named():
    with pytest.raises(
        RuntimeError, match=r"the device 'xla', which is not here.*map_location='cpu'"
    ):
        rebuild.device_tensor((np.ones(2), taeda.float32, "xla", False), CONTEXT)


@pytest.mark.parametrize("name", ["UninitializedParameter", "UninitializedBuffer"])
def test_what_lazy_modules_hold(name):
    make = rebuild.uninitialized(name)
    made = make((True, None, taeda.float64, True) if "Buffer" in name else (False,), CONTEXT)
    assert type(made).__name__ == name
    with pytest.raises(
        RefusedPickle, match=f"an {name} of dtype taeda.int64 is said to require a gradient"
    ):
        make((True, None, taeda.int64), CONTEXT)
    with pytest.raises(RefusedPickle, match="cannot be made of"):
        make((1,), CONTEXT)


def buffer(row=None, sizes=None, strides=None, begins=None):
    """A batch of one tensor of two numbers, unless something else is given."""
    row = taeda.ones(2) if row is None else row
    tables = taeda.tensor([[2]]), taeda.tensor([[1]]), taeda.tensor([0])
    given = zip((sizes, strides, begins), tables, strict=True)
    return (row, *(own if table is None else table for table, own in given))


MASKED = (
    known("torch._utils", "_rebuild_wrapper_subclass"),
    known("torch.masked.maskedtensor.core", "MaskedTensor"),
)


RANK = (1,) * 65
BAD = {
    "no storage": (rebuild.tensor_v1, (1, 0, (1,), (1,)), "cannot be made of"),
    "v2 of nothing": (rebuild.tensor_v2, (), "made of a storage"),
    "v2 of an untyped "
    "storage": (rebuild.tensor_v2, (untyped(), 0, (1,), (1,), False, HOOKS), "made of a storage"),
    "v2 too short": (rebuild.tensor_v2, v2()[:5], "made of a storage"),
    "v2 too long": (rebuild.tensor_v2, (*v2(), {}, 1), "made of a storage"),
    "v3 too short": (rebuild.tensor_v3, (untyped(), 0, (1,), (1,), False, HOOKS), "7 or 8 values, got 6"),
    "a gradient that is no truth": (rebuild.tensor_v2, v2(grad=1), "made of a storage"),
    "hooks that are no dict": (rebuild.tensor_v2, v2(hooks=[]), "made of a storage"),
    "hooks": (rebuild.tensor_v2, v2(hooks=OrderedDict(a=1)), "backward hooks, which are code"),
    "unknown marks": (rebuild.tensor_v2, v2(sparse=True), "marks other than conj and neg"),
    "marks that are no dict": (rebuild.tensor_v2, (*v2(), [1]), "marks other than conj and neg"),
    "rank": (rebuild.tensor_v2, v2(0, (1, 1), (1,)), "2 dimensions, 1 strides"),
    "rank 65": (rebuild.tensor_v2, v2(0, RANK, RANK), "64 dimensions are the most"),
    "a negative offset": (rebuild.tensor_v2, v2(-1), "the offset -1"),
    "an offset that is a truth": (rebuild.tensor_v2, v2(True), "make no tensor"),
    "outside": (rebuild.tensor_v2, v2(1), r"reaches to byte 28 of a storage of 24"),
    "far outside": (rebuild.tensor_v2, v2(0, (2**62,), (2**62,)), "reaches to byte"),
    "far away and empty": (rebuild.tensor_v2, v2(1 << 62, (0,), (1,)), "reaches to byte 0"),
    "a negative size": (rebuild.tensor_v2, v2(0, (-1, 3)), "a shape is a tuple of numbers from 0"),
    "a negative stride": (rebuild.tensor_v2, v2(0, (2, 3), (-3, 1)), "a stride is a tuple"),
    "more elements than exist": (rebuild.tensor_v2, v2(0, (2**40, 2**40), (0, 0)), "cannot be"),
    "a gradient of "
    "integers": (rebuild.tensor_v2, v2(grad=True, storage=typed("Long")), "said to require a gradient"),
    "a Parameter of a number": (rebuild.parameter, (1,), "a Parameter cannot be made of"),
    "a Parameter with "
    "hooks": (rebuild.parameter, (taeda.ones(1), True, OrderedDict(a=1)), "hooks, which are code"),
    "a Parameter of integers": (rebuild.parameter, (taeda.tensor([1]),), "a parameter of dtype taeda.int64"),
    "three values": (rebuild.parameter_with_state, (taeda.ones(1), True, HOOKS), "4 values, got 3"),
    "meta rank": (rebuild.meta_tensor, (taeda.float32, (1,), (), False), "1 dimensions with 0 strides"),
    "meta rank 65": (rebuild.meta_tensor, (taeda.float32, RANK, RANK, False), "65 dimensions"),
    "meta of too many": (rebuild.meta_tensor, (taeda.float32, (2**40, 2**40), (0, 0), False), "cannot be"),
    "meta of integers": (rebuild.meta_tensor, (taeda.int8, (1,), (1,), True), "require a gradient"),
    "a device's number": (rebuild.device_tensor, (1, taeda.float32, "xla", False), "an array or a tensor"),
    "a device's "
    "gradient": (rebuild.device_tensor, (np.ones(1, int), taeda.int8, "cpu", True), "require a gradient"),
    "another "
    "type": (rebuild.from_type, (V2, known("collections", "OrderedDict"), (), None), "save a plain tensor"),
    "another "
    "maker": (rebuild.from_type, (known("collections", "OrderedDict"), TENSOR, (), None),
        "save a plain tensor"),
    "sparse of no parts": (rebuild.sparse, (taeda.sparse_coo, ((1,),)), "is made of parts and a size"),
    "quantized of six": (rebuild.quantized, scaled(hooks=()), "7 values"),
    "quantized by nothing": (rebuild.quantized, scaled(scale=()), "one of them how it is scaled"),
    "quantized by a word": (rebuild.quantized, scaled(scale=("affine", 1.0, 0)), "how it is scaled"),
    "quantized floats": (rebuild.quantized, scaled(typed()), "does not lie on a storage of"),
    "quantized beyond its bytes": (rebuild.quantized, scaled(size=(3, 3)), "reaches to byte"),
    "nibbles beyond their bytes": (
        rebuild.quantized, scaled(integers("QUInt4x2"), size=(9, 9)), "reaches to byte"),
    "masked of two": (rebuild.masked, (taeda.ones(1), taeda.ones(1)), "a masked tensor cannot be made of"),
    "nested of three": (rebuild.jagged, (1, 2, 3), "4 values, got 3"),
    "nested of numbers": (rebuild.jagged, (1, 2, None, 1), "a nested tensor cannot be made of"),
    "no type": (rebuild.from_type, (V2, 1, (), None), "cannot be made of"),
    "nested of floats": (rebuild.nested, buffer(sizes=taeda.ones(1, 1)), "int64 tables"),
    "nested of a matrix": (rebuild.nested, buffer(taeda.ones(2, 2)), "a buffer and int64 tables"),
    "nested beyond its bytes": (rebuild.nested, buffer(sizes=taeda.tensor([[9]])), "reaches to byte"),
    "nested below its bytes": (rebuild.nested, buffer(begins=taeda.tensor([-1])), "offset -1 make no"),
    "nested of negative sizes": (rebuild.nested, buffer(sizes=taeda.tensor([[-2]])), "a shape"),
    "nested of two begins": (rebuild.nested, buffer(begins=taeda.tensor([0, 1])), "for each tensor"),
    "nested of two sizes": (
        rebuild.nested, buffer(sizes=taeda.tensor([[1, 1]])), "2 dimensions, 1 strides"),
    "jagged of nothing": (rebuild.njt, ({},), "values, offsets and the ragged dimension"),
    "jagged of more": (
        rebuild.njt, ({"values": 1, "offsets": 2, "_ragged_idx": 1, "hook": 3},), "values, offsets and"),
    "masked without a mask": (
        rebuild.from_type, (*MASKED, (True,), {"_masked_data": taeda.ones(1)}), "data and a mask"),
    "masked without claims": (
        rebuild.from_type,
        (*MASKED, (), {"_masked_data": taeda.ones(1), "_masked_mask": taeda.ones(1)}), "data and a mask"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "arguments", "message"), BAD.values(), ids=BAD)
def test_refused(make, arguments, message):
    with pytest.raises(RefusedPickle, match=message):
        make(arguments, CONTEXT)


ONE = taeda.ones(1)
LAYOUTS = {
    "sparse": (rebuild.sparse, (taeda.sparse_csr, (ONE, ONE, ONE, (1, 1)))),
    "masked": (rebuild.masked, (ONE, ONE, False)),
    "nested": (rebuild.jagged, (ONE, ONE, None, 1)),
    "quantized": (rebuild.quantized, scaled()),
}


@pytest.mark.parametrize(("make", "arguments"), LAYOUTS.values(), ids=LAYOUTS)
def test_facts_that_make_no_tensor_are_refused_and_missing_memory_is_told(
    make, arguments, monkeypatch
):
    def fail(error):
        monkeypatch.setattr(rebuild, "from_facts", lambda *facts: (_ for _ in ()).throw(error))

    for error in (RuntimeError("odd"), ValueError("odd"), OverflowError("odd")):
        fail(error)
        with pytest.raises(RefusedPickle, match="tensor cannot be: odd"):
            make(arguments, CONTEXT)
    fail(taeda.OutOfMemoryError("all gone"))
    with pytest.raises(taeda.OutOfMemoryError, match="all gone"):
        make(arguments, CONTEXT)


def test_a_masked_and_a_nested_tensor_require_a_gradient_again(monkeypatch):
    monkeypatch.setattr(rebuild, "from_facts", lambda name, parts, *facts: parts[0])
    grown = taeda.ones(1).requires_grad_()
    assert rebuild.masked((grown, ONE, True), CONTEXT).requires_grad
    assert not rebuild.masked((grown, ONE, False), CONTEXT).requires_grad
    assert rebuild.jagged((grown, ONE, ONE, 1), CONTEXT).requires_grad
    with pytest.raises(RefusedPickle, match="is said to require a gradient"):
        rebuild.masked((taeda.tensor([1]), ONE, True), CONTEXT)


def test_quantized_tensors_are_integers_and_what_scales_them(monkeypatch):
    monkeypatch.setattr(rebuild, "from_facts", lambda name, parts, *facts: (parts, *facts))
    (found,), facts = rebuild.quantized(scaled(), CONTEXT)[:2]
    assert found.dtype is taeda.int8 and found.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tuple(facts) == ("qint8", "per_tensor_affine", 0.5, 1, 2, 3)
    whole = scaled(integers("QUInt4x2"), size=(3, 3))
    (found,), facts = rebuild.quantized(whole, CONTEXT)[:2]
    assert found.tolist() == [0, 1, 2, 3, 4] and facts[0] == "quint4x2"  # two numbers a byte
    whole = scaled(integers("QUInt2x4"), size=(3, 3))
    (found,), facts = rebuild.quantized(whole, CONTEXT)[:2]
    assert found.tolist() == [0, 1, 2] and facts[0] == "quint2x4"  # four
    each = (taeda.per_channel_affine, taeda.ones(2), taeda.zeros(2), 0)
    parts, facts = rebuild.quantized(scaled(scale=each), CONTEXT)[:2]
    assert len(parts) == 3 and tuple(facts)[2:] == (0, 2, 3)
