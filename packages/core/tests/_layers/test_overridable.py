"""Every operation and attribute of the table can be overridden, called as its schema says."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor
from taeda._native import core
from taeda._table._generate import rows
from taeda.overrides import TorchFunctionMode, get_overridable_functions, resolve_name

VALUES = {"Scalar": 1, "int": 1, "float": 1.0, "bool": False, "str": "a", "ScalarType": taeda.float32,
          "Layout": taeda.strided, "Device": "cpu", "MemoryFormat": taeda.contiguous_format,
          "Generator": taeda.default_generator}  # fmt: skip


class Answers:
    """No tensor; answers every call with the function."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert types == (cls,)
        return func


class Sees(Tensor):
    """A tensor that does the same."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func


def arguments(row, tensor):
    """(positional, keywords) that a call has to give: `tensor` for Tensors, something of the type
    for the rest.
    """
    positional, keywords = [], {}
    for a in row.schema.arguments:
        if a.has_default:
            continue
        value = tensor if a.is_tensor else VALUES[a.base]
        value = [value] * (a.length or 1) if a.is_list else value
        if a.keyword_only:
            keywords[a.name] = value
        else:
            positional.append(value)
    return positional, keywords


def takes_tensor(row):
    return any(a.is_tensor and not a.has_default for a in row.schema.arguments)


TABLE = [row for row in rows() if takes_tensor(row) and row.namespace in core.functions]
FUNCTIONS = [row for row in TABLE if "function" in row.variants]
METHODS = [
    row for row in TABLE
    if "method" in row.variants and not row.namespace and not row.schema.name.startswith("__")
]  # fmt: skip
OPERATORS = [
    "__and__",
    "__or__",
    "__xor__",
    "__lshift__",
    "__rshift__",
    "__add__",
    "__rsub__",
    "__mul__",
    "__matmul__",
    "__lt__",
]


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.schema.qualified)
def test_every_function_asks_its_arguments(row):
    function = core.functions[row.namespace][row.schema.name]
    positional, keywords = arguments(row, Answers())
    assert function(*positional, **keywords) is function


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.schema.qualified)
def test_every_method_asks_its_tensor(row):
    tensor = taeda.ones(1).as_subclass(Sees)
    rest, keywords = arguments(row, tensor)
    del rest[next(i for i, a in enumerate(row.schema.arguments) if a.name == "self")]
    method = getattr(Tensor, row.schema.name)
    assert method(tensor, *rest, **keywords) == method


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_arrive_as_functions(name):
    tensor = taeda.ones(1).as_subclass(Sees)
    function = getattr(Tensor, name)(tensor, tensor)
    assert function in {
        core.functions[""][row.schema.name] for row in FUNCTIONS if not row.namespace
    }


ATTRIBUTES = [
    f for f in get_overridable_functions()[Tensor]
    if getattr(f, "__name__", "") == "__get__"
    and resolve_name(f).split(".")[-2] not in ("__dict__", "_hooks")
]  # fmt: skip


@pytest.mark.parametrize("getter", ATTRIBUTES, ids=lambda f: resolve_name(f).split(".")[-2])
def test_every_attribute_asks(getter):
    name = resolve_name(getter).split(".")[-2]
    tensor = taeda.ones(1).as_subclass(Sees)
    assert getattr(tensor, name) == getter


@pytest.mark.parametrize("name", ["grad", "requires_grad", "data"])
def test_writing_an_attribute_asks(name):
    seen = []

    class Notes(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func, args))

    tensor = taeda.ones(1).as_subclass(Notes)
    setattr(tensor, name, 5)
    assert seen[0][0] == getattr(Tensor, name).__set__
    assert seen[0][1][1] == 5


def test_attributes_of_plain_subclasses_and_of_tensors():
    class Plain(Tensor):
        pass

    tensor = taeda.ones(2, 3).as_subclass(Plain)
    assert tensor.shape == (2, 3)
    assert type(tensor.T) is Plain
    assert tensor.grad is None


def test_modes_see_attributes():
    seen = []

    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(resolve_name(func))
            return func(*args, **(kwargs or {}))

    x = taeda.ones(2)
    with Log():
        assert x.shape == (2,)
        x.requires_grad = True
    assert seen[0] == "taeda.Tensor.shape.__get__"
    assert len(seen) == 2
    assert x.requires_grad
