"""Custom operators: what they take, give, write and refuse."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor, library
from taeda._library import table

Library, custom_op = library.Library, library.custom_op


@pytest.fixture
def double():
    @custom_op("tlib::double", mutates_args=())
    def double(x: Tensor, times: float = 2.0) -> Tensor:
        """Twice x, or as often."""
        return x * times

    return double


def test_a_custom_op_is_called_by_name_and_by_object(double):
    x = taeda.ones(2)
    for call in (double, taeda.ops.tlib.double, taeda.ops.tlib.double.default):
        assert call(x).tolist() == [2.0, 2.0]
        assert call(x, times=3).tolist() == [3.0, 3.0]
        assert call(times=1.5, x=x).tolist() == [1.5, 1.5]


def test_objects_say_what_they_are(double):
    op = taeda.ops.tlib.double
    assert repr(double) == "<CustomOpDef(tlib::double)>"
    assert repr(op) == "<OpOverloadPacket(op='tlib.double')>"
    assert repr(op.default) == "<OpOverload(op='tlib.double', overload='default')>"
    assert (str(op), str(op.default), op.default.name()) == ("tlib.double", "tlib.double.default",
        "tlib::double")  # fmt: skip
    assert str(op.default._schema) == "tlib::double(Tensor x, float times=2.0) -> Tensor"
    assert op.overloads() == ["default"]
    assert op.default.overloadpacket is op
    assert op.default.tags == [taeda.Tag.pt2_compliant_tag]
    assert op.__doc__ == double.__doc__ == "Twice x, or as often."
    assert "double" in dir(taeda.ops.tlib)


def test_wrong_arguments_are_named(double):
    for call, message in [
        (lambda: double(1), r"tlib::double\(\): argument 'x' \(position 1\) must be Tensor, not int"),
        (lambda: double(), r'tlib::double\(\) missing 1 required positional arguments: "x"'),
        (lambda: double(taeda.ones(1), 1, 2), "at most 2 positional arguments, but 3 were given"),
        (lambda: double(taeda.ones(1), by=1), "unexpected keyword argument 'by'"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=message):
            call()


@custom_op("tlib::kinds", mutates_args=())
def kinds(
    x: Tensor,
    xs: list[Tensor],
    ns: list[int],
    fs: list[float],
    maybe: Tensor | None = None,
    *,
    flag: bool = True,
    word: str = "w",
    dtype: taeda.dtype = taeda.float32,
    device: taeda.device | None = None,
    number: int | float | bool = 3,
) -> Tensor:
    seen.append((ns, fs, maybe, flag, word, dtype, device, number, type(xs)))
    return x + sum(t.sum() for t in xs)


seen: list[Any] = []


def test_every_kind_of_argument_arrives_as_annotated():
    x = taeda.ones(1)
    kinds(x, (x, x), (1, 2), [1, 2.5])
    assert seen.pop() == ([1, 2], [1.0, 2.5], None, True, "w", taeda.float32, None, 3, list)
    kinds(x, [x], [], [], x, flag=False, word="v", dtype=taeda.int8, number=2.5)
    ns, fs, maybe, *rest = seen.pop()
    assert maybe is x
    assert (ns, fs, rest) == ([], [], [False, "v", taeda.int8, None, 2.5, list])


def test_results_of_every_kind():
    def define(annotation, value):
        def function(x):
            return value(x)

        function.__annotations__ = {"x": Tensor, "return": annotation}
        return custom_op("tlib::result", function, mutates_args=())(taeda.ones(2))

    assert define(int, lambda x: 3) == 3
    assert define(float, lambda x: 0.5) == 0.5
    assert define(bool, lambda x: True) is True
    assert define(None, lambda x: None) is None
    pair = define(tuple[Tensor, int], lambda x: (x + 1, 4))
    assert type(pair) is tuple
    assert pair[0].tolist() == [2.0, 2.0]
    assert pair[1] == 4
    listed = define(list[Tensor], lambda x: (x + 1, x + 2))
    assert type(listed) is list
    assert [t.tolist() for t in listed] == [[2.0, 2.0], [3.0, 3.0]]


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (
            Tensor,
            lambda x: 1.5,
            "returned <class 'float'> as result 0 where the schema says Tensor",
        ),
        (None, lambda x: x + 1, "where the schema says 0 results"),
        (tuple[Tensor, Tensor], lambda x: x + 1, "where the schema says 2 results"),
        (tuple[Tensor, Tensor], lambda x: (x + 1,), "where the schema says 2 results"),
        (list[Tensor], lambda x: x + 1, r"says Tensor\[\]"),
        (Tensor, lambda x: x, "shares memory"),
        (Tensor, lambda x: x.view(-1), "shares memory"),
        (tuple[Tensor, Tensor], lambda x: (x + 1,) * 2, "result 1 shares memory"),
        (list[Tensor], lambda x: [x + 1, x], "result 1 shares memory"),
        (list[Tensor], lambda x: [x + 1, x.view(-1)], "result 1 shares memory"),
        (list[Tensor], lambda x: [x + 2, *[x + 1] * 2], "result 2 shares memory"),
        (list[Tensor], lambda x: list((x + 1).unbind()), "result 1 shares memory"),
    ],
)
def test_results_that_break_the_schema(annotation, value, message):
    def function(x):
        return value(x)

    function.__annotations__ = {"x": Tensor, "return": annotation}
    op = custom_op("tlib::broken", function, mutates_args=())
    with pytest.raises(RuntimeError, match=message):
        op(taeda.ones(2))


def test_an_exception_of_a_kernel_is_the_callers():
    @custom_op("tlib::raises", mutates_args=())
    def raises(x: Tensor) -> Tensor:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        raises(taeda.ones(1))
    assert taeda.is_grad_enabled()


def test_conjugated_arguments_arrive_resolved():
    @custom_op("tlib::conj", mutates_args=())
    def conj(x: Tensor) -> Tensor:
        assert not x.is_conj()
        return x.clone()

    x = taeda.tensor([1 + 2j])
    assert conj(x.conj()).tolist() == [1 - 2j]


def test_a_declared_write_is_counted():
    @custom_op("tlib::bump", mutates_args={"x"})
    def bump(x: Tensor, by: int) -> None:
        x += by

    x = taeda.zeros(2)
    before = x._version
    assert bump(x, 3) is None
    assert x.tolist() == [3.0, 3.0]
    assert x._version > before
    assert bump(taeda.empty(2, device="meta"), 1) is None  # there is nothing to write


def test_an_argument_that_is_the_result():
    with library_of("tlibw") as lib:
        lib.define("inc_(Tensor(a!) x) -> Tensor(a!)")
        lib.impl("inc_", lambda x: x.add_(1), "CPU")
        x = taeda.zeros(1)
        assert taeda.ops.tlibw.inc_(x) is x
        assert x.item() == 1


def test_a_written_argument_without_a_letter():
    with library_of("tlibw") as lib:
        lib.define("fill(Tensor value, Tensor! out, Tensor!? other=None) -> ()")
        lib.impl("fill", lambda value, out, other=None: out.copy_(value) and None, "CPU")
        x = taeda.zeros(1)
        before = x._version
        assert taeda.ops.tlibw.fill(taeda.ones(1), x) is None
        assert x.item() == 1 and x._version > before
        assert [a.alias_info is not None for a in taeda.ops.tlibw.fill.default._schema.arguments] == [
            False, True, True]  # fmt: skip


def library_of(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "FRAGMENT")


@pytest.mark.parametrize("name", ["foo", "foo.bar", "::foo", "foo::", "a::b::c"])
def test_a_name_has_a_namespace(name):
    with pytest.raises(ValueError, match='"namespace::name"'):
        custom_op(name, lambda x: x, mutates_args=())


def test_mutates_args_is_mandatory():
    with pytest.raises(TypeError, match="mutates_args"):
        custom_op("tlib::m")


def test_a_second_custom_op_of_a_name_holds(double):
    @custom_op("tlib::double", mutates_args=())
    def other(x: Tensor) -> Tensor:
        return x * 4

    assert taeda.ops.tlib.double(taeda.ones(1)).item() == 4
    assert double(taeda.ones(1)).item() == 2  # the object of before keeps its meaning


def test_too_many_arguments_are_refused():
    text = "(" + ", ".join(f"int a{i}" for i in range(40)) + ") -> int"
    with pytest.raises(ValueError, match="at most"):
        library.define("tlib::many", text)
    assert not table.is_defined("tlib::many")


def test_opcheck_finds_an_undeclared_write_that_a_call_does_not():
    @custom_op("tlib::sneaky", mutates_args=())
    def sneaky(x: Tensor, xs: list[Tensor]) -> Tensor:
        xs[1].add_(1)
        return x.clone()

    sneaky.register_fake(lambda x, xs: taeda.empty_like(x))
    x = taeda.ones(2)
    sneaky(x, [x, taeda.ones(1)])
    with pytest.raises(
        Exception, match="test_schema failed: argument xs is not defined as mutable"
    ) as info:
        library.opcheck(sneaky, (x, [taeda.ones(1), taeda.ones(1)]))
    assert type(info.value).__name__ == "OpCheckError"
    assert x.tolist() == [1.0, 1.0]


def test_a_kernel_may_replace_itself(double):
    class Once:
        def __call__(self, x, times):
            double.register_kernel("cpu", lambda x, times: x * 0)
            return x * 9

    double.register_kernel("cpu", Once())
    assert double(taeda.ones(1)).item() == 9
    assert double(taeda.ones(1)).item() == 0
