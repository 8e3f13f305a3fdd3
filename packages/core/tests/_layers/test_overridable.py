"""Every operation and attribute of the table can be overridden, called as its schema says."""

from __future__ import annotations

import copy
import inspect
import operator

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
    row
    for row in TABLE
    if "method" in row.variants and not row.namespace and not row.schema.name.startswith("__")
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


X, I = "x", "i"  # a tensor of numbers with a point, and of whole ones
#: what is written, and the method and the number of the operand that comes first, as PyTorch has them
OPERATORS = [
    *[(f"{x} {sign} 1", method, 0) for x, sign, method in (
        (X, "+", "add"), (X, "-", "sub"), (X, "*", "mul"), (X, "/", "div"), (X, "//", "__floordiv__"),
        (X, "%", "remainder"), (X, "**", "__pow__"), (X, "<", "lt"), (X, "<=", "le"), (X, ">", "gt"),
        (X, ">=", "ge"), (X, "==", "__eq__"), (X, "!=", "ne"), (I, "&", "__and__"), (I, "|", "__or__"),
        (I, "^", "__xor__"), (I, "<<", "__lshift__"), (I, ">>", "__rshift__"))],
    *[(f"1 {sign} {x}", method, 1) for x, sign, method in (
        (X, "+", "add"), (X, "-", "__rsub__"), (X, "*", "mul"), (X, "/", "__rtruediv__"),
        (X, "//", "__rfloordiv__"), (X, "%", "__rmod__"), (X, "**", "__rpow__"),
        (I, "&", "bitwise_and"), (I, "|", "bitwise_or"), (I, "^", "bitwise_xor"),
        (I, "<<", "__rlshift__"), (I, ">>", "__rrshift__"))],
    ("x @ x", "matmul", 0), ("plain @ x", "matmul", 0), ("plain + x", "add", 0),
    ("-x", "neg", 0), ("+x", "positive", 0), ("abs(x)", "abs", 0), ("~i", "__invert__", 0),
    *[(f"operator.{name}({x}, 1)", method, 0) for x, name, method in (
        (X, "iadd", "add_"), (X, "isub", "sub_"), (X, "imul", "mul_"), (X, "itruediv", "div_"),
        (X, "ifloordiv", "floor_divide_"), (X, "imod", "remainder_"), (X, "ipow", "__ipow__"),
        (I, "iand", "__iand__"), (I, "ior", "__ior__"), (I, "ixor", "__ixor__"),
        (I, "ilshift", "__ilshift__"), (I, "irshift", "__irshift__"))],
]  # fmt: skip


class Both(Tensor):
    """A tensor that answers with the function and its arguments."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args


@pytest.mark.parametrize(("text", "method", "first"), OPERATORS)
def test_operators_arrive_as_methods(text, method, first):
    x, i = taeda.ones(1).as_subclass(Both), taeda.ones(1, dtype=taeda.int64).as_subclass(Both)
    plain = taeda.zeros(1)
    func, args = eval(text, {"x": x, "i": i, "plain": plain, "operator": operator})
    assert func == getattr(Tensor, method)
    assert any(args[0] is tensor for tensor in (x, i, plain))
    assert len(args) == (1 if text[0] in "-+~a" else 2)
    if first:
        assert args[1] == 1


@pytest.mark.parametrize(("text", "method", "first"), OPERATORS)
def test_operators_of_subclasses_and_under_modes_compute_the_same(text, method, first):
    class Plain(Tensor):
        """One that leaves everything as it is."""

    class Through(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    def numbers(kind):
        return {"x": taeda.tensor([3.0]).as_subclass(kind), "plain": taeda.tensor([5.0]),
                "i": taeda.tensor([6]).as_subclass(kind), "operator": operator}  # fmt: skip

    seen = []
    wanted = eval(text, numbers(Tensor))
    assert eval(text, numbers(Plain)).tolist() == wanted.tolist()
    given = numbers(Tensor)
    with Through():
        found = eval(text, given)
    assert found.tolist() == wanted.tolist()
    assert seen == [getattr(Tensor, method)]


def test_operators_inside_a_map_go_to_the_map():
    class Notes(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    def one(a):
        with Notes():
            return 1 - a // 2

    seen = []
    assert taeda.vmap(one)(taeda.tensor([4.0, 6.0])).tolist() == [-1, -2]
    assert seen == [Tensor.__floordiv__, Tensor.__rsub__]


def _python_methods():
    for method in get_overridable_functions()[Tensor]:
        name = resolve_name(method).split(".")[2]
        if hasattr(method, "__code__") and name not in _OF_THE_OBJECT:
            yield pytest.param(name, method, id=name)


#: asked of the object by Python, and by PyTorch of nobody else
_OF_THE_OBJECT = {"__iter__", "__array_namespace__"}
_FIRST = {"__deepcopy__": {}, "__contains__": 1, "__reduce_ex__": 2, "__format__": ""}


@pytest.mark.parametrize(("name", "method"), [*_python_methods()])
def test_every_method_of_python_asks_types_and_modes(name, method):
    wanted = [
        p
        for p in inspect.signature(method).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    rest = [_FIRST.get(name, taeda.ones(1)) for _ in wanted[1:]]
    func, args = method(taeda.ones(1).as_subclass(Both), *rest)
    assert func is method is getattr(Tensor, name)
    assert len(args) == 1 + len(rest)
    seen = []

    class Answers(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return "seen"

    x = taeda.ones(1)
    with Answers():
        assert method(x, *rest) == "seen"
    assert seen == [method]


def test_subclasses_survive_methods_of_python():
    class Plain(Tensor):
        """One that leaves everything as it is."""

    x = taeda.tensor([1.0, 2.0]).as_subclass(Plain)
    assert type(x.to(taeda.float64)) is type(x.half()) is type(x.cpu()) is Plain
    assert type(x.float()) is Plain
    assert x.numpy().tolist() == x.tolist() == [1, 2]
    assert repr(x).startswith("Plain(")
    assert copy.deepcopy(x).tolist() == [1, 2]
    assert type(copy.deepcopy(x)) is Plain


ATTRIBUTES = [
    f
    for f in get_overridable_functions()[Tensor]
    if getattr(f, "__name__", "") == "__get__"
    and resolve_name(f).split(".")[-2] not in ("__dict__", "_hooks")
]


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
