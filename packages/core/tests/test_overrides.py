"""The public half of the override protocol."""

from __future__ import annotations

import inspect

import pytest

import taeda
from taeda import Tensor, overrides
from taeda.overrides import (
    TorchFunctionMode,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
    is_tensor_like,
    is_tensor_method_or_property,
    resolve_name,
    wrap_torch_function,
)


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


def double(x, *, times=2):
    if has_torch_function_unary(x):
        return handle_torch_function(double, (x,), x, times=times)
    return x * times


def test_a_python_function_can_be_overridden():
    duck = Duck()
    assert double(duck, times=3) == (double, (Duck,), (duck,), {"times": 3})
    assert double(taeda.ones(1)).tolist() == [2.0]


def test_a_mode_sees_python_functions_even_without_tensors():
    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func.__name__

    with Names():
        assert double(1) == "double"


def test_wrapping():
    @wrap_torch_function(lambda a, b=None: (a, b))
    def pair(a, b=None):
        """Both."""
        return [a, b]

    assert pair(1, b=2) == [1, 2]
    assert pair.__doc__ == "Both."
    assert pair(1, b=Duck())[0] is pair


def test_has_torch_function():
    assert has_torch_function([1, Duck()])
    assert has_torch_function_variadic(1, Duck())
    assert not has_torch_function([1, taeda.ones(1), None])


@pytest.mark.parametrize(("value", "like"), [(1, False), (None, False), (Duck(), True)])
def test_is_tensor_like(value, like):
    assert is_tensor_like(value) is like
    assert is_tensor_like(taeda.ones(1))


def test_a_mode_without_a_handler_says_so():
    with (
        pytest.raises(NotImplementedError, match="TorchFunctionMode"),
        TorchFunctionMode.push(),
    ):
        taeda.ones(1)


def test_the_base_mode_lets_calls_pass():
    with overrides.BaseTorchFunctionMode():
        assert taeda.ones(2).tolist() == [1.0, 1.0]


def test_names():
    assert resolve_name(taeda.add) == "taeda.add"
    assert resolve_name(taeda.Tensor.add) == "taeda.Tensor.add"
    assert resolve_name(taeda.Tensor.shape.__get__) == "taeda.Tensor.shape.__get__"
    assert resolve_name(len) is None


def test_overridable_functions_are_listed_by_place():
    places = get_overridable_functions()
    assert taeda.add in places[taeda]
    assert taeda.Tensor.add in places[taeda.Tensor]
    assert taeda.ones not in places[taeda]
    assert taeda.ones in get_ignored_functions()


def test_methods_and_properties():
    assert is_tensor_method_or_property(taeda.Tensor.add)
    assert is_tensor_method_or_property(taeda.Tensor.shape.__get__)
    assert not is_tensor_method_or_property(taeda.add)


def test_testing_overrides_answer_every_listed_function():
    answers = get_testing_overrides()
    assert answers[taeda.add](1, 2) == -1
    assert list(inspect.signature(answers[taeda.add]).parameters) == [
        "input",
        "other",
        "alpha",
        "out",
    ]
    assert next(iter(inspect.signature(answers[taeda.Tensor.add]).parameters)) == "self"
    with pytest.raises(TypeError, match="argument"):
        answers[taeda.exp]()
    listed = {f for functions in get_overridable_functions().values() for f in functions}
    assert listed == set(answers)


QUESTIONS = {
    "size": (), "stride": (0,), "dim": (), "numel": (), "element_size": (), "storage_offset": (),
    "data_ptr": (), "item": (),
    "tolist": (), "is_floating_point": (), "is_complex": (), "is_signed": (), "is_conj": (),
    "is_neg": (), "is_inference": (),
    "get_device": (), "requires_grad_": (False,), "is_contiguous": (), "__float__": (), "__int__": (),
    "__bool__": (), "__len__": (),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_that_are_no_operators_are_asked_too(name):
    seen = []

    class Seeing(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    plain = taeda.ones(1)
    answer = getattr(plain, name)(*QUESTIONS[name])
    asked = plain.as_subclass(Seeing)
    got = getattr(asked, name)(*QUESTIONS[name])
    assert got is asked or got == answer
    assert seen == [getattr(Tensor, name)]
    with Mode():
        getattr(plain, name)(*QUESTIONS[name])
    assert seen == [getattr(Tensor, name)] * 2


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (taeda.result_type, (taeda.ones(1), 2)),
        (taeda.promote_types, (taeda.int8, taeda.float32)),
        (taeda.can_cast, (taeda.int8, taeda.float32)),
    ],
)
def test_modes_are_asked_for_types_of_results(function, args):
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func, args

    with Mode():
        assert function(*args) == (function, args)
    assert function(*args) in (taeda.float32, True)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("size", "dim"),
        ("stride", "dim"),
        ("is_contiguous", "memory_format"),
        ("requires_grad_", "requires_grad"),
    ],
)
def test_questions_take_one_argument_by_its_name(name, argument):
    question = getattr(taeda.ones(2, 2), name)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes at most 1 argument \(2 given\)"):
        question(0, 1)
    with pytest.raises(TypeError, match=rf"keyword argument 'other'; it takes {argument}"):
        question(other=0)


def test_an_answer_to_bool_has_to_be_one():
    class Odd(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "yes"

    odd = taeda.ones(1).as_subclass(Odd)
    for convert in (bool, float, int):
        with pytest.raises(TypeError, match=r"bool|float|int|real number"):
            convert(odd)


def test_the_stack_of_function_modes():
    with overrides.BaseTorchFunctionMode() as outer, overrides.BaseTorchFunctionMode() as inner:
        assert overrides._get_current_function_mode() is inner
        assert overrides._get_current_function_mode_stack() == [outer, inner]
        with overrides._pop_mode_temporarily() as popped:
            assert popped is inner
            assert overrides._get_current_function_mode() is outer
    assert overrides._get_current_function_mode() is None
