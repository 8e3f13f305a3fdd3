"""Doors of public functions: who is asked gets the function that was called, with its arguments."""

import functools
import importlib
import inspect

import pytest

import taeda
from taeda import overrides
from taeda._layers import overridable
from taeda._table._generate import rows


class Duck:
    """No tensor, but asked for calls."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return ("asked", func, args, kwargs or {})


class Seen(overrides.TorchFunctionMode):
    """The first call in the block is answered, and others go on."""

    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append(func)
        return "seen"


_VALUES = {"int": 1, "SymInt": 1, "float": 1.0, "Scalar": 1.0, "bool": True, "str": "ij"}


@functools.cache
def _schemas():
    found = {}
    for row in rows():
        for name in (row.schema.name, *row.aliases):
            for spelled in (name, f"{name}_"):
                found.setdefault((row.namespace, spelled), row.schema)
    return found


def _value(argument):
    one = Duck() if argument.base == "Tensor" else _VALUES.get(argument.base, 1)
    return [one] * (argument.length or 1) if argument.is_list else one


def _of_schema(schema):
    needed = [a for a in schema.arguments if not a.has_default]
    args = [_value(a) for a in needed if not a.keyword_only]
    return args, {a.name: _value(a) for a in needed if a.keyword_only}


def _of_python(function):
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind != p.VAR_KEYWORD]
    return [_of_parameter(i, str(p.annotation)) for i, p in enumerate(needed)], {}


def _of_parameter(index, annotation):
    if index == 0 or "Tensor" in annotation:
        return Duck()
    return [1] if "Sequence" in annotation else 1


def _schema(place, function):
    if hasattr(function, "__code__"):
        return None
    known = _schemas()
    return (
        known.get((place, function.__name__))
        or known.get(("nn", function.__name__))
        or known.get(("", function.__name__))
    )


def _arguments(place, function):
    schema = _schema(place, function)
    return _of_schema(schema) if schema is not None else _of_python(function)


def _functions():
    for place, functions in overrides.get_overridable_functions().items():
        if place is taeda.Tensor:
            continue
        name = place.__name__.removeprefix("taeda").lstrip(".")
        for function in functions:
            yield pytest.param(name, function, id=overrides.resolve_name(function))


@pytest.mark.parametrize(("place", "function"), [*_functions()])
def test_public_function_is_what_types_and_modes_get(place, function):
    args, kwargs = _arguments(place, function)
    kind, func, *_ = function(*args, **kwargs)
    assert kind == "asked"
    home = importlib.import_module(f"taeda.{place}" if place else "taeda")
    assert func is function
    names = [name for name, value in overridable._entries(home).items() if value is func]
    assert names and all(getattr(home, name) is func for name in names)
    with Seen() as seen:
        assert function(*args, **kwargs) == "seen"
    assert seen.calls == [function]


class Labelled(taeda.Tensor):
    """A subclass that notes what it is asked for."""

    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, args, kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})


def test_arguments_arrive_as_they_were_given():
    functional = pytest.importorskip("taeda.nn.functional")
    x, y = taeda.ones(2).as_subclass(Labelled), taeda.zeros(2)
    Labelled.calls.clear()
    loss = functional.mse_loss(x, y, reduction="sum")
    assert type(loss) is Labelled
    assert loss.as_subclass(taeda.Tensor).item() == 2
    [(args, kwargs)] = [call[1:] for call in Labelled.calls if call[0] is functional.mse_loss]
    assert args[0] is x
    assert args[1] is y
    assert kwargs["reduction"] == "sum"


def test_function_of_one_operation_is_asked_once_and_computes():
    functional = pytest.importorskip("taeda.nn.functional")
    x = taeda.tensor([-1.0, 8.0]).as_subclass(Labelled)
    Labelled.calls.clear()
    y = functional.relu6(x, inplace=True)
    assert [call[0] for call in Labelled.calls] == [functional.relu6]
    assert y.as_subclass(taeda.Tensor).tolist() == [0, 6]
    assert x.as_subclass(taeda.Tensor).tolist() == [0, 6]


def test_table_of_handlers_is_found():
    functional = pytest.importorskip("taeda.nn.functional")

    class Table(taeda.Tensor):
        handled = {functional.cross_entropy: lambda *args, **kwargs: "mine"}

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in cls.handled:
                return cls.handled[func](*args, **(kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs or {})

    logits = taeda.ones(1, 3).as_subclass(Table)
    assert functional.cross_entropy(logits, taeda.tensor([1])) == "mine"


def test_mode_sees_function_that_vmap_maps_and_parts_go_to_the_map():
    functional = pytest.importorskip("taeda.nn.functional")
    seen = []

    class Notes(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    def loss(a, b):
        with Notes():
            return functional.mse_loss(functional.relu(a), b)

    x = taeda.tensor([[1.0, -2.0], [3.0, 4.0]])
    assert taeda.vmap(loss)(x, taeda.zeros(2, 2)).tolist() == [0.5, 12.5]
    assert seen[:2] == [functional.relu, functional.mse_loss]


def test_mode_that_declines_leaves_mapped_function_as_it_is():
    functional = pytest.importorskip("taeda.nn.functional")

    class Declines(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    def loss(a):
        with Declines():
            return functional.mse_loss(a, a)

    assert taeda.vmap(loss)(taeda.ones(2, 2)).tolist() == [0, 0]


def test_operands_of_einsum_come_one_by_one_in_either_form():
    class Seen(taeda.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append((func, args))
            return func(*args, **(kwargs or {}))

    a, b = taeda.ones(2, 3), taeda.ones(3, 4)
    for operands in ((a, b), ([a, b],), ((a, b),)):
        calls = []
        with Seen():
            made = taeda.einsum("ij,jk->ik", *operands)
        assert made.shape == (2, 4)
        assert calls[0][0] is taeda.einsum
        assert len(calls[0][1]) == 3
