"""One Python object as the value of one parameter: what fits each type, and what does not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import taeda
from taeda import Tensor

x = taeda.arange(6.0).reshape(2, 3)
one = taeda.ones(2)


def dual():
    from taeda.autograd import forward_ad

    with forward_ad.dual_level():
        return taeda.add(one, one, alpha=forward_ad.make_dual(taeda.tensor(2.0), taeda.tensor(1.0)))


class Number(Tensor):
    """A tensor without memory that says what its element is."""

    said = 2.0

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if "item" in str(func) or "_local_scalar_dense" in str(func):
            if isinstance(cls.said, Exception):
                raise cls.said
            return cls.said
        raise NotImplementedError(str(func))


def number(said=2.0, dtype=taeda.float32):
    kind = type("Said", (Number,), {"said": said})
    return Tensor._make_wrapper_subclass(kind, (), dtype=dtype)


NUMBERS = {
    "int": (2, 3.0),
    "float": (0.5, 1.5),
    "bool": (True, 2.0),
    "complex": (1j, 1 + 1j),
    "numpy's float": (np.float32(0.5), 1.5),
    "numpy's int": (np.int8(3), 4.0),
    "numpy's bool": (np.bool_(True), 2.0),
    "bfloat16 of ml_dtypes": (ml_dtypes.bfloat16(2), 3.0),
    "a tensor": (taeda.tensor(4), 5.0),
    "above 63 bits": (2**63, 1.0 + 2**63),
}


@pytest.mark.parametrize(("value", "wanted"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_where_a_tensor_is_wanted(value, wanted):
    assert taeda.add(taeda.ones(1, dtype=taeda.float64), value).tolist() == [wanted]


@pytest.mark.parametrize(
    "make",
    [
        lambda: 2,
        lambda: 2.0,
        lambda: True + 1,
        lambda: taeda.tensor(2),
        lambda: np.float64(2),
        number,
    ],
)
def test_a_number(make):
    assert taeda.add(one, one, alpha=make()).tolist() == [3, 3]


def test_an_integer_above_63_bits_keeps_its_value():
    large = 2**63 + 2**62
    for call in (lambda v, n: v * n, lambda v, n: taeda.mul(n, v), lambda v, n: v.mul_(n)):
        for dtype in (taeda.float32, taeda.float64, taeda.uint64):
            assert call(taeda.ones(1, dtype=dtype), large).tolist() == [large]
    assert (taeda.ones(1) < large).item() and not (taeda.ones(1) > large).item()
    assert taeda.clamp(taeda.ones(1), large).item() == large
    assert taeda.where(taeda.tensor([True]), large, 1.5).item() == large
    assert (taeda.ones(1, dtype=taeda.int8) + large).dtype is taeda.int8
    assert (taeda.ones(1) * (2**63 - 1)).item() == 2**63
    assert (taeda.ones(1) * -(2**63)).item() == -(2**63)
    with pytest.raises(RuntimeError, match=r"Promotion for .* is not supported"):
        taeda.tensor([True]) + large


NO_NUMBERS = {
    "a text": lambda: "2",
    "a vector": lambda: taeda.tensor([2.0]),
    "one without memory": lambda: taeda.tensor(2.0, device="meta"),
    "one with a history": lambda: taeda.tensor(2.0, requires_grad=True),
    "a subclass that says a text": lambda: number("two"),
}


@pytest.mark.parametrize("make", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_no_number(make):
    with pytest.raises(TypeError, match=r"alpha|invalid combination|a number is wanted"):
        taeda.add(one, one, alpha=make())


@pytest.mark.parametrize("make", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_no_float(make):
    with pytest.raises(TypeError, match=r"must be float|a number is wanted"):
        taeda.dropout(one, make(), True)


def test_a_number_with_a_tangent_is_none():
    with pytest.raises(TypeError):
        dual()


def test_a_subclass_that_raises_is_heard():
    for call in (lambda v: taeda.add(one, one, alpha=v), lambda v: taeda.dropout(one, v, True)):
        with pytest.raises(ZeroDivisionError, match="mine"):
            call(number(ZeroDivisionError("mine")))


def test_a_float():
    for value in (0, 0.0, np.float32(0), taeda.tensor(0.0), taeda.tensor(0), False):
        assert taeda.dropout(one, value, True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="must be float, not complex"):
        taeda.dropout(one, 1j, True)
    with pytest.raises(TypeError, match="must be float"):
        taeda.dropout(one, taeda.tensor(1j), True)


def test_a_truth():
    for value in (True, np.bool_(True)):
        assert taeda.sum(x, 0, value).shape == (1, 3)
    assert taeda.sum(x, 0, np.bool_(False)).shape == (3,)
    for value in (
        1,
        1.0,
        "yes",
        np.datetime64(1, "s"),
        taeda.tensor(True),
        np.int8(1),
        np.float64(1),
    ):
        with pytest.raises(TypeError, match=r"must be bool|invalid combination"):
            taeda.cumsum(x, 0).sum(0, value)


def test_a_list_of_floats():
    for scalars in ([1.0, 2], (np.float32(1), True + 1), [taeda.tensor(1.0), taeda.tensor(2)]):
        made = taeda._foreach_add([one, one], scalars)
        assert [t.tolist() for t in made] == [[2, 2], [3, 3]]
    for scalars in (["2", 2.0], [1j, 2.0], [taeda.ones(2), 2.0], {1.0, 2.0}):
        with pytest.raises(TypeError):
            taeda._foreach_add([one, one], scalars)


@pytest.fixture(scope="module")
def takes():
    """Operators of one parameter each, by its type, that give back how often a number stands in it."""
    types = (
        "float[2]",
        "int[2]",
        "bool[2]",
        "bool[]",
        "Layout?",
        "MemoryFormat?",
        "Generator?",
        "Tensor?[]",
        "str",
        "ScalarType",
        "Scalar[]",
    )
    library = taeda.library.Library("_test_bind", "DEF")
    functions = {}
    for number, kind in enumerate(types):
        library.define(f"f{number}(Tensor x, {kind} a) -> Tensor")
        library.impl(f"f{number}", lambda x, a: seen.append(a) or x.clone(), "CPU")
        functions[kind] = getattr(taeda.ops._test_bind, f"f{number}")
    seen = []

    def call(kind, value):
        functions[kind](one, value)
        return seen.pop()

    yield call
    library._destroy()


FITS = [
    ("float[2]", 2, [2.0, 2.0]), ("float[2]", [1, 2.5], [1.0, 2.5]), ("float[2]", np.float32(3), [3.0, 3.0]),
    ("int[2]", 2, [2, 2]), ("int[2]", (1, np.int8(2)), [1, 2]), ("bool[2]", True, [True, True]),
    ("bool[]", [True, False], [True, False]), ("bool[]", [], []), ("Layout?", None, None),
    ("Layout?", taeda.strided, taeda.strided),
    ("MemoryFormat?", taeda.channels_last, taeda.channels_last), ("MemoryFormat?", None, None),
    ("Tensor?[]", [None, None], [None, None]), ("str", "ab", "ab"), ("ScalarType", taeda.int8, taeda.int8),
    ("Scalar[]", [1, 2.5], [1, 2.5]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "wanted"), FITS, ids=str)
def test_what_fits_a_type(takes, kind, value, wanted):
    made = takes(kind, value)
    assert (list(made) if isinstance(wanted, list) else made) == wanted


MISFITS = [
    ("float[2]", "2"), ("float[2]", [1.0, "2"]), ("float[2]", 1j), ("int[2]", 2.5),
    ("int[2]", [1, None]), ("bool[2]", 1.0),
    ("bool[]", True), ("bool[]", [1.0, 0]), ("bool[]", [True, None]), ("Layout?", "strided"),
    ("MemoryFormat?", taeda.strided),
    ("Generator?", "seed"), ("Tensor?[]", [1]), ("Tensor?[]", one), ("str", b"ab"),
    ("ScalarType", "int8"), ("ScalarType", None),
    ("float[2]", [1j, 2.0]), ("float[2]", [taeda.tensor(1.0), "2"]), ("Scalar[]", [1.0, "2"]),
    ("Tensor?[]", [None, 1]),
    ("Tensor?[]", [one, 1.5]), ("Layout?", 1), ("bool[2]", [True, 1.5]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), MISFITS, ids=str)
def test_what_fits_no_type(takes, kind, value):
    with pytest.raises(TypeError, match=r"f\d+\(\): argument 'a' \(position 2\) must be "):
        takes(kind, value)


def test_a_generator_that_is_given_arrives(takes):
    made = taeda.Generator()
    assert takes("Generator?", made) is made


def test_a_list_that_changes_its_length_while_it_is_read():
    class Grows(list):
        pass

    class Index:
        def __index__(self):
            sizes.append(1)
            return 2

    sizes = [Index(), Index()]
    assert taeda.zeros(sizes).shape == (2, 2)


def test_an_entry_that_empties_the_list_first():
    class Float:
        dtype = None

        def __index__(self):
            values.clear()
            return 2

    values = [1, Float(), 3]
    assert taeda.zeros(values).shape == (1, 2, 3)


def test_dtypes_devices_layouts_and_formats():
    assert taeda.zeros(2, dtype=float).dtype is taeda.float64
    assert taeda.zeros(2, dtype=None).dtype is taeda.float32
    assert taeda.zeros(2, device=taeda.device("cpu")).device.type == "cpu"
    assert taeda.zeros(2, layout=taeda.strided).shape == (2,)
    made = taeda.empty(1, 2, 2, 2, memory_format=taeda.channels_last)
    assert made.stride() == (8, 1, 4, 2)
    wrong = {
        "dtype": "float32",
        "device": 1.5,
        "layout": "strided",
        "memory_format": 1,
        "generator": 1,
    }
    for name, value in wrong.items():
        call = (
            taeda.empty
            if name == "memory_format"
            else taeda.rand
            if name == "generator"
            else taeda.zeros
        )
        with pytest.raises(TypeError, match=f"{name}|invalid combination"):
            call(2, **{name: value})
    with pytest.raises(RuntimeError, match=r"ones: there is no kernel .* taeda\.sparse_coo"):
        taeda.ones(2, layout=taeda.sparse_coo)
    with pytest.raises(RuntimeError, match="abacus"):
        taeda.zeros(2, device="abacus")


def test_generators():
    made = [taeda.rand(3, generator=taeda.Generator().manual_seed(1)).tolist() for _ in range(2)]
    assert made[0] == made[1]
    taeda.manual_seed(1)
    assert taeda.rand(3, generator=None).tolist() == made[0]


def test_texts():
    rounded = taeda.div(taeda.tensor([7.0]), 2, rounding_mode="floor")
    assert rounded.tolist() == [3]
    assert taeda.div(taeda.tensor([7.0]), 2, rounding_mode=None).tolist() == [3.5]
    with pytest.raises(TypeError):
        taeda.div(one, 2, rounding_mode=1)
    with pytest.raises(UnicodeEncodeError):
        taeda.div(one, 2, rounding_mode="\ud800")


def test_none_where_nothing_may_stand():
    assert taeda.clamp(one, None, 0.5).tolist() == [0.5, 0.5]
    assert taeda.conv2d(taeda.ones(1, 1, 2, 2), taeda.ones(1, 1, 1, 1), None).shape == (1, 1, 2, 2)
    assert taeda.max_pool2d(taeda.ones(1, 1, 4, 4), 2, None).shape == (1, 1, 2, 2)
    for call in (
        lambda: taeda.relu(None),
        lambda: taeda.cumsum(x, None),
        lambda: taeda.stack(None),
    ):
        with pytest.raises(TypeError, match="NoneType"):
            call()


def test_an_entry_after_one_that_overrides_functions():
    with pytest.raises(TypeError, match="its entry 1 is int"):
        taeda.cat([Duck(), 1])


def test_none_for_a_list_with_another_default():
    with pytest.raises(TypeError, match="stride=NoneType"):
        taeda.conv2d(taeda.ones(1, 1, 2, 2), taeda.ones(1, 1, 1, 1), stride=None)


def test_lists_of_tensors():
    assert taeda.cat((one, one)).shape == (4,)
    assert x[[0, 1], :].shape == (2, 3)
    index = taeda.tensor([0])
    assert taeda.index_put(x, (None, index), taeda.tensor(9.0))[:, 0].tolist() == [9, 9]
    for value in (one, [one, 1], 3, "ab", {1}):
        with pytest.raises(TypeError):
            taeda.cat(value) if value is not one else taeda._foreach_neg(value)


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "duck"


class NoDuck(Tensor):
    __torch_function__ = taeda._C._disabled_torch_function_impl


def test_what_overrides_functions_takes_the_call_wherever_it_stands():
    assert taeda.relu(Duck()) == taeda.cat([one, Duck()]) == taeda.add(one, Duck()) == "duck"
    assert taeda.relu(one.as_subclass(NoDuck)).tolist() == [1, 1]
    with pytest.raises(TypeError):
        taeda.relu(object())


def test_inference_tensors_are_bound_without_a_history():
    with taeda.inference_mode():
        y = taeda.ones(2)
    assert not (y * 2).requires_grad
    assert not taeda.relu(y).requires_grad


def test_one_int_for_a_list_of_fixed_length():
    assert taeda.conv2d(taeda.ones(1, 1, 4, 4), taeda.ones(1, 1, 2, 2), stride=2).shape == (
        1,
        1,
        2,
        2,
    )
    with pytest.raises(TypeError):
        taeda.conv2d(taeda.ones(1, 1, 4, 4), taeda.ones(1, 1, 2, 2), stride="2")
    with pytest.raises((TypeError, RuntimeError)):
        taeda.flip(x, "0")


class Size:
    """A size that knows what a call with it means."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return getattr(func, "__name__", ""), len(args), sorted(kwargs or {})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x, n: x.expand(n), "expand"),
        (lambda x, n: x.expand(2, n), "expand"),
        (lambda x, n: x.expand([2, n]), "expand"),
        (lambda x, n: x.expand(size=n), "expand"),
        (lambda x, n: x.sum(n), "sum"),
        (lambda x, n: x.new_zeros((2, n)), "new_zeros"),
        (lambda x, n: x.to(n), "to"),
        (lambda x, n: x[n], "__getitem__"),
        (lambda x, n: x[0, n], "__getitem__"),
        (lambda x, n: taeda.narrow(x, 0, 0, n), "narrow"),
    ],
)
def test_an_argument_that_is_no_tensor_is_asked(call, name):
    assert call(taeda.ones(2, 2), Size())[0] == name


def test_what_nobody_answers_for_is_an_error_as_ever():
    class Plain:
        pass

    x = taeda.ones(2)
    for call in (x.expand, x.sum, x.to, x.new_zeros, x.__getitem__):
        with pytest.raises((TypeError, IndexError), match="Plain"):
            call(Plain())
    with taeda._C.DisableTorchFunctionSubclass(), pytest.raises(TypeError, match="Size"):
        x.expand(Size())
