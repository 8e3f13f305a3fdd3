"""Tensors from Python data: every leaf counts for the dtype, and none is rounded to another's."""

from __future__ import annotations

import fractions

import leaves
import numpy as np
import pytest
from hypothesis import given, settings

import taeda

STEADY = settings(derandomize=True, database=None, deadline=None, max_examples=400)
WAYS = {
    "tensor": taeda.tensor,
    "as_tensor": taeda.as_tensor,
    "asarray": taeda.asarray,
}


def promoted(a: str, b: str) -> str:
    """By the documented rule: the wider kind (bool, integer, real, complex), then the wider dtype of it."""
    if a == "complex128":  # holds every number
        return a
    return str(taeda.promote_types(getattr(taeda, a), getattr(taeda, b))).removeprefix("taeda.")


@STEADY
@given(leaves.recipes)
def test_every_leaf_counts(recipe):
    data, plain = leaves.build(recipe, taeda), leaves.numbers(recipe)
    try:
        dtype = leaves.dtype_of(recipe, promoted)
    except RuntimeError:  # uint16, uint32 and uint64 beside other integers
        for way in WAYS.values():
            with pytest.raises(RuntimeError, match=r"Promotion for .* is not supported"):
                way(data)
        return
    for way in WAYS.values():
        made = way(data)
        assert made.dtype is getattr(taeda, dtype) and made.shape == leaves.shape_of(plain)
        assert made.tolist() == np.array(plain, complex if made.is_complex() else None).tolist()


@STEADY
@given(leaves.recipes)
def test_the_order_of_entries_does_not_matter(recipe):
    """A list read backwards is the tensor turned round: no leaf has a say that others have not."""
    data = leaves.build(recipe, taeda)
    try:
        forwards, backwards = taeda.tensor(data), taeda.tensor(data[::-1])
    except RuntimeError:
        return
    assert forwards.dtype is backwards.dtype and forwards.flip(0).tolist() == backwards.tolist()


@STEADY
@given(leaves.recipes)
def test_a_wanted_dtype_needs_no_promotion(recipe):
    made = taeda.tensor(leaves.build(recipe, taeda), dtype=taeda.complex128)
    assert made.tolist() == np.array(leaves.numbers(recipe), complex).tolist()


RULE = {
    "a number of Python beside a scalar": ([np.int64(1), 2.5], "float32", [1.0, 2.5]),
    "two scalars": ([np.int64(1), np.float64(2.5)], "float64", [1.0, 2.5]),
    "float64 scalars": ([np.float64(0.1)], "float64", [0.1]),
    "a float beside a float64": ([1.0, np.float64(0.1)], "float64", [1.0, 0.1]),
    "a wide number beside half": ([np.float16(1), 1e6], "float32", [1.0, 1e6]),
    "a bool beside a float": ([np.True_, 0.5], "float32", [1.0, 0.5]),
    "a bool beside an int": ([np.True_, 2], "int64", [1, 2]),
    "uint8 beside an int": ([np.uint8(1), 300], "int64", [1, 300]),
    "uint8 beside int8": ([np.uint8(1), np.int8(-1)], "int16", [1, -1]),
    "complex beside float64": ([1j, np.float64(0.1)], "complex128", [1j, 0.1 + 0j]),
    "the largest uint64": ([np.uint64(2**64 - 1)], "uint64", [2**64 - 1]),
    "arrays": ([np.array([1]), np.array([1.5])], "float64", [[1.0], [1.5]]),
    "an array beside a list": ([np.ones(2), [0.1, 2]], "float64", [[1.0, 1.0], [0.1, 2.0]]),
    "a list beside an array": ([[0.1, 2], np.ones(2)], "float64", [[0.1, 2.0], [1.0, 1.0]]),
    "an array without dimensions": ([np.array(1), 2.5], "float32", [1.0, 2.5]),
    "arrays that run backwards": ([np.arange(2)[::-1]], "int64", [[1, 0]]),
    "arrays of the other byte order": ([np.arange(2, dtype=">i4")], "int32", [[0, 1]]),
    "ranges": ([range(2), range(2)], "int64", [[0, 1], [0, 1]]),
    "nothing": ([[], []], "float32", [[], []]),
    "empty arrays": ([np.zeros(0, "i4")], "int32", [[]]),
}


@pytest.mark.parametrize(("data", "dtype", "values"), RULE.values(), ids=RULE)
@pytest.mark.parametrize("way", WAYS)
def test_rule(way, data, dtype, values):
    made = WAYS[way](data)
    assert made.dtype is getattr(taeda, dtype) and made.tolist() == values


TENSORS = {
    "an int and a float": (lambda: [taeda.tensor(0), taeda.tensor(1.7)], "float32", (2,)),
    "an int and a number": (lambda: [taeda.tensor(1), 2.5], "float32", (2,)),
    "a bool and an int": (lambda: [taeda.tensor(True), 2], "int64", (2,)),
    "one element each": (lambda: [taeda.tensor([1]), taeda.tensor([[2.5]])], "float32", (2,)),
    "several elements": (lambda: [taeda.ones(2), taeda.ones(2, dtype=taeda.int64)], "float32", (2, 2)),
    "beside an array": (lambda: [taeda.ones(2), np.ones(2)], "float64", (2, 2)),
    "two halves": (lambda: [taeda.tensor(1.0).bfloat16(), taeda.tensor(1.0).half()], "float32", (2,)),
    "conjugates": (lambda: [taeda.tensor(1j).conj()], "complex64", (1,)),
}  # fmt: skip


@pytest.mark.parametrize(("make", "dtype", "shape"), TENSORS.values(), ids=TENSORS)
@pytest.mark.parametrize("way", WAYS)
def test_tensors_as_leaves(way, make, dtype, shape):
    made = WAYS[way](make())
    assert made.dtype is getattr(taeda, dtype) and made.shape == shape and made.is_leaf
    flat = [v for t in make() for v in np.ravel(t.tolist() if taeda.is_tensor(t) else t)]
    assert made.flatten().tolist() == flat


def test_the_default_dtype_is_that_of_floats():
    before = taeda.get_default_dtype()
    taeda.set_default_dtype(taeda.float64)
    try:
        assert taeda.tensor([np.int64(1), 0.1]).dtype is taeda.float64
        assert taeda.tensor([1j, np.float32(1)]).dtype is taeda.complex128
        assert taeda.tensor([np.float32(1)]).dtype is taeda.float32
    finally:
        taeda.set_default_dtype(before)


REFUSED = {
    "dates": ([np.datetime64(1, "s")], TypeError, r"datetime64\[s\]"),
    "objects": ([np.array([1, 2], object)], TypeError, "type object"),
    "text": ([1, "a"], TypeError, "'a' is text"),
    "text in an array": ([np.array(["a"])], TypeError, "<U1"),
    "None": ([1, None], RuntimeError, "NoneType"),
    "a dict": ([{}], RuntimeError, "dtype of dict"),
    "a dict beside an array": ([np.ones(2), {}], RuntimeError, "dtype of dict"),
    "float8 beside a "
    "float": ([taeda.tensor(1.0).to(taeda.float8_e5m2), 1.0], RuntimeError, "float8_e5m2 and float32"),
    "ragged arrays": ([np.ones(1), np.ones(2)], ValueError, r"\(2,\) stands beside \(1,\)"),
    "a number beside an array": ([np.ones(1), 2], ValueError, r"\(\) stands beside \(1,\)"),
    "a list beside a number": ([1, [2]], TypeError, "must be a number, not a sequence"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "error", "fact"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("way", WAYS)
def test_refused(way, data, error, fact):
    with pytest.raises(error, match=fact):
        WAYS[way](data)


class Three:
    def __index__(self) -> int:
        return 3


def test_what_says_which_number_it_is_counts_in_lists_too():
    assert taeda.tensor([Three(), 2]).tolist() == [3, 2]
    assert taeda.tensor([[Three()], [0.5]]).tolist() == [[3.0], [0.5]]
    assert taeda.tensor([fractions.Fraction(1, 2)]).tolist() == [0.5]
    assert taeda.tensor(Three()).item() == 3


def test_a_list_that_holds_itself_is_refused():
    for first in (1, np.ones(2)):
        data = [first]
        data.append(data)
        with pytest.raises((ValueError, TypeError), match=r"too many dimensions|not a sequence"):
            taeda.tensor(data)


def test_an_array_is_not_squeezed_into_a_wanted_dtype():
    with pytest.raises(RuntimeError, match="uint8 without overflow: 300"):
        taeda.tensor([np.array([300])], dtype=taeda.uint8)
    with pytest.raises(TypeError, match="must be a real number"):
        taeda.tensor([np.array([1j])], dtype=taeda.float64)
    assert taeda.tensor([np.array([0.1])], dtype=taeda.float32).dtype is taeda.float32


CHANGES = {
    "emptied": (list.clear, RuntimeError | IndexError),
    "an entry becomes a list": (lambda x: x.__setitem__(1, []), TypeError),
    "an entry becomes text": (lambda x: x.__setitem__(1, "a"), TypeError),
}


@pytest.mark.parametrize(("change", "error"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("nested", [False, True])
def test_a_list_that_changes_while_it_is_read(nested, change, error):
    class Evil(np.float32):
        def item(self):
            change(row)
            return 1.0

    row = [Evil(1), 2.0, 3.0]
    with pytest.raises(error.__args__ if hasattr(error, "__args__") else error):
        taeda.tensor([row, [2.0] * 3] if nested else row)


def test_subclasses_of_tensor_count_as_what_they_hold():
    class Own(taeda.Tensor):
        pass

    leaf = taeda.ones(2, dtype=taeda.float64).as_subclass(Own)
    made = taeda.tensor([leaf, [1, 2]])
    assert type(made) is taeda.Tensor and made.dtype is taeda.float64


def test_a_list_of_cells_of_two_columns():
    cells = [np.arange(3)[0], np.linspace(0, 1, 3)[1]]
    assert taeda.tensor(cells).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("make", [taeda.tensor, taeda.as_tensor, taeda.asarray])
def test_modes_are_asked_for_makers_and_not_for_what_these_are_made_of(make):
    from taeda.overrides import TorchFunctionMode

    asked = []

    class Seen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            asked.append((function, args, kwargs))
            return function(*args, **(kwargs or {}))

    with Seen():
        made = make([1.0], dtype=taeda.float64)
    assert made.dtype == taeda.float64
    ((function, args, kwargs),) = asked
    assert function is make and args == ([1.0],) and kwargs["dtype"] is taeda.float64


@pytest.mark.parametrize("make", [taeda.tensor, taeda.as_tensor, taeda.asarray])
@pytest.mark.parametrize(("start", "stop"), [(0, 10), (3, 7), (4, 10), (5, 5)])
def test_part_of_a_storage_gives_the_bytes_of_that_part(make, start, stop):
    whole = taeda.arange(10, dtype=taeda.uint8)
    part = whole.untyped_storage()[start:stop]
    assert make(part, dtype=taeda.uint8).tolist() == list(range(start, stop))
    pairs = [low + 256 * (low + 1) for low in range(start, stop - 1, 2)]
    assert make(part, dtype=taeda.int16).tolist() == pairs
    made = make(part, dtype=taeda.uint8)
    made.zero_()
    assert whole.tolist() == list(range(10))


class _Asked(taeda.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls += 1
        return super().__torch_function__(func, types, args, kwargs or {})


class _Named(taeda.Tensor):
    pass


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.parametrize("kind", [_Asked, _Named, None])  # None: a parameter
@pytest.mark.parametrize(
    "settings", [{}, {"dtype": taeda.float64}, {"requires_grad": True}], ids=str
)
def test_tensor_of_a_subclass_is_a_plain_copy(kind, settings):
    x = taeda.ones(2)
    x = x.as_subclass(kind) if kind else pytest.importorskip("taeda.nn").Parameter(x)
    _Asked.calls = 0
    made = taeda.tensor(x, **settings)
    assert type(made) is taeda.Tensor and made.is_leaf and _Asked.calls == 0
    assert made.tolist() == [1, 1] and made.data_ptr() != x.data_ptr()
    assert made.requires_grad is settings.get("requires_grad", False)
