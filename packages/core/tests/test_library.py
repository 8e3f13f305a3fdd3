"""Operators of one's own, without derivatives (those are in autograd's tests)."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import taeda
from taeda import Tensor, library
from taeda._library import table
from taeda._table._schema import SchemaError
from taeda.overrides import TorchFunctionMode
from taeda.utils.op_trace import trace_ops

Library, custom_op = library.Library, library.custom_op


@pytest.fixture
def double():
    @custom_op("tlib::double", mutates_args=())
    def double(x: Tensor, times: float = 2.0) -> Tensor:
        """Twice x, or as often."""
        return x * times

    return double


# ---- calls ----


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
    assert (str(op), str(op.default), op.default.name()) == ("tlib.double", "tlib.double.default", "tlib::double")  # fmt: skip
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


# ---- what is written ----


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


def library_of(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "FRAGMENT")


# ---- kernels by device ----


def test_kernels_by_device(double):
    double.register_kernel("cpu", lambda x, times: x * times + 100)
    assert double(taeda.ones(1)).item() == 102
    with double.set_kernel_enabled("cpu", enabled=False):
        assert double(taeda.ones(1)).item() == 2
    assert double(taeda.ones(1)).item() == 102
    double.register_kernel(None)(lambda x, times: x * 0)
    with double.set_kernel_enabled("cpu", enabled=False):
        assert double(taeda.ones(1)).item() == 0
    with pytest.raises(RuntimeError, match="foo"):
        double.register_kernel("foo", lambda x: x)


def test_an_op_for_another_device_only():
    @custom_op("tlib::gpu", mutates_args=(), device_types="cuda")
    def gpu(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(NotImplementedError, match="no kernel is registered for device 'cpu'"):
        gpu(taeda.ones(1))


def test_a_factory_needs_a_device():
    with pytest.raises(ValueError, match=r"device: taeda\.device"):
        _factory()

    @custom_op("tlib::make", mutates_args=(), device_types="cpu")
    def make(device: taeda.device) -> Tensor:
        return taeda.ones(3)

    assert make("cpu").shape == (3,)


def _factory():
    @custom_op("tlib::make", mutates_args=(), device_types="cpu")
    def make() -> Tensor:
        return taeda.ones(3)


# ---- meta ----


def test_meta_calls_need_a_fake_kernel(double):
    x = taeda.empty(2, 3, device="meta")
    with pytest.raises(NotImplementedError, match=r'register_fake\("tlib::double"'):
        double(x)
    double.register_fake(lambda x, times: taeda.empty_like(x))
    made = double(x)
    assert made.is_meta
    assert made.shape == (2, 3)


def test_a_size_that_depends_on_data():
    @custom_op("tlib::nonzero", mutates_args=())
    def nonzero(x: Tensor) -> Tensor:
        return x.nonzero().clone()

    @library.register_fake("tlib::nonzero")
    def _(x):
        ctx = library.get_ctx()
        return x.new_empty(ctx.new_dynamic_size(), x.dim(), dtype=taeda.int64)

    assert library.get_ctx() is None
    with pytest.raises(RuntimeError, match="size that depends on data"):
        nonzero(taeda.empty(3, device="meta"))
    assert library.get_ctx() is None
    assert set(library.opcheck(nonzero, (taeda.tensor([0, 1, 2]),)).values()) == {"SUCCESS"}


# ---- layers ----


class Tagged(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append(func)
        return super().__torch_function__(func, types, args, kwargs)


calls: list[Any] = []


def test_subclasses_see_the_call(double):
    x = taeda.ones(1).as_subclass(Tagged)
    calls.clear()
    assert type(double(x)) is Tagged
    assert calls == [taeda.ops.tlib.double.default]
    taeda.ops.tlib.double(x)
    assert calls[1:] == [taeda.ops.tlib.double]


def test_modes_see_the_call(double):
    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(func)
            return func(*args, **(kwargs or {}))

    log: list[Any] = []
    x = taeda.ones(1)
    with Log():
        double(x)
    assert log == [taeda.ops.tlib.double.default]


def test_tracing_sees_one_opaque_call(double):
    x = taeda.ones(2)
    with trace_ops() as trace:
        double(x)
        taeda.ops.aten.split(x, 1)
    assert [call.op for call in trace.calls][:1] == ["tlib::double"]
    assert len(trace.calls) == 2


# ---- names ----


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


def test_schemas_given_as_text():
    made = custom_op("tlib::text", lambda x, n: x * n, mutates_args=(), schema="(Tensor x, int n=3) -> Tensor")  # fmt: skip
    assert made(taeda.ones(1)).item() == 3
    with pytest.raises(ValueError, match="consistent"):
        custom_op("tlib::t2", lambda x: x, mutates_args=("x",), schema="(Tensor x) -> Tensor")
    for text in (
        "Tensor x",
        "(Tensr x) -> Tensor",
        "(Tensor) -> Tensor",
        "(Tensor x=) -> Tensor",
        "(int x=f()) -> ()",
    ):
        with pytest.raises(ValueError, match=r"schema|type|argument|default"):
            custom_op("tlib::t2", lambda x: x, mutates_args=(), schema=text)
    assert not table.is_defined("tlib::t2")


def test_what_does_not_exist():
    with pytest.raises(
        AttributeError, match="'_OpNamespace' 'tlib' object has no attribute 'nothing'"
    ):
        taeda.ops.tlib.nothing
    with pytest.raises(AttributeError, match="no overload named 'nothing'"):
        taeda.ops.aten.add.nothing
    for name in ("register_vmap", "register_autocast"):
        with pytest.raises(AttributeError, match="comes with"):
            getattr(library, name)
    with pytest.raises(AttributeError):
        library.register_autograd("tlib::nothing", lambda ctx, g: g)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: library.triton_op("tlib::kernel", mutates_args=()),
        lambda: library.triton_op("tlib::kernel", abs, mutates_args={"out"}),
        lambda: library.wrap_triton(abs),
    ],
)
def test_triton_is_refused_with_what_serves_instead(refused):
    with pytest.raises(NotImplementedError, match=r"no tensors on one yet.*custom_op"):
        refused()


def test_too_many_arguments_are_refused():
    text = "(" + ", ".join(f"int a{i}" for i in range(40)) + ") -> int"
    with pytest.raises(ValueError, match="at most"):
        library.define("tlib::many", text)
    assert not table.is_defined("tlib::many")


# ---- infer_schema ----


def everything(
    x: Tensor, n: int, f: float = 1.5, b: bool = True, s: str = "a", *, d: taeda.device | None = None,
    t: taeda.dtype = taeda.float64,
) -> tuple[Tensor, list[Tensor]]: ...  # fmt: skip


def lists(
    x: list[Tensor], y: list[Tensor | None], n: list[int] | None = None, k: int | float | bool = 2
) -> None: ...


def test_schemas_of_annotations():
    infer = library.infer_schema
    assert infer(everything, mutates_args=()) == (
        '(Tensor x, SymInt n, float f=1.5, bool b=True, str s="a", *, Device? d=None, ScalarType t=float64)'
        " -> (Tensor, Tensor[])"
    )
    assert infer(lists, mutates_args={"y"}, op_name="f") == (
        "f(Tensor[] x, Tensor(a1!)?[] y, SymInt[]? n=None, Scalar k=2) -> ()"
    )
    assert infer(lists, mutates_args="unknown").startswith("(Tensor(a0!)[] x, Tensor(a1!)?[] y,")


def annotated(returns=Tensor, **parameters):
    text = ", ".join(parameters)
    scope: dict[str, Any] = {}
    exec(f"def f({text}): ...", scope)
    scope["f"].__annotations__ = {**{k: v for k, v in parameters.items() if v}, "return": returns}
    return scope["f"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (annotated(x=None), "Parameter x must have a type annotation"),
        (annotated(x=dict), "Parameter x has unsupported type"),
        (annotated(x=tuple[int, int]), "Tuples have no schema"),
        (annotated(x="Nowhere"), "Unsupported type annotation Nowhere"),
        (annotated(x=list[str]), "Parameter x has unsupported type"),
        (annotated(x=int | str), "Parameter x has unsupported type"),
        (annotated(x=Tensor, returns=dict), "Return has unsupported type"),
        (annotated(x=Tensor, returns=tuple[Tensor, ...]), "Return has unsupported type"),
        (lambda *x: x, "varargs"),
    ],
)
def test_annotations_without_a_schema(function, message):
    with pytest.raises(ValueError, match=message):
        library.infer_schema(function, mutates_args=())


def test_mutates_args_that_mean_nothing():
    f = annotated(x=Tensor, n=int)
    for mutates, message in [
        (("y",), "were not found"),
        ("x", "'unknown'"),
        (("n",), "only Tensors"),
    ]:
        with pytest.raises(ValueError, match=message):
            library.infer_schema(f, mutates_args=mutates)


def test_a_function_without_return_annotation():
    def f(x: Tensor): ...

    with pytest.raises(ValueError, match="No return type annotation"):
        library.infer_schema(f, mutates_args=())


# ---- Library ----


def test_a_library_defines_and_implements():
    lib = Library("tl1", "DEF")
    assert lib.define("f(Tensor x) -> Tensor") == "f"
    assert lib.define("f.twice(Tensor x, int n) -> Tensor") == "f.twice"
    with pytest.raises(
        NotImplementedError, match=r"tl1::f: no kernel is registered for device 'cpu'"
    ):
        taeda.ops.tl1.f(taeda.ones(1))
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl(taeda.ops.tl1.f.twice, lambda x, n: x * n, "CPU")
    assert taeda.ops.tl1.f(taeda.ones(1)).item() == 2
    assert taeda.ops.tl1.f(taeda.ones(1), 5).item() == 5
    assert taeda.ops.tl1.f.overloads() == ["default", "twice"]
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("f(Tensor x) -> Tensor")
    with pytest.warns(
        UserWarning, match="Overriding a previously registered kernel of tl1::f for CPU"
    ):
        lib.impl("f", lambda x: x + 2, "CPU")
    assert taeda.ops.tl1.f(taeda.ones(1)).item() == 3
    with pytest.raises(RuntimeError, match="Only a single library of kind 'DEF'"):
        Library("tl1", "DEF")
    fragment = Library("tl1", "FRAGMENT")
    fragment.define("g(Tensor x) -> Tensor")
    del fragment
    gc.collect()
    with pytest.raises(AttributeError):
        taeda.ops.tl1.g
    lib._destroy()
    with pytest.raises(AttributeError):
        taeda.ops.tl1.f
    Library("tl1", "DEF")._destroy()


def test_a_library_says_what_it_does_not_take():
    with library_of("tl2") as lib:
        for call, kind, message in [
            (lambda: Library("tl2", "FOO"), ValueError, "Unsupported kind"),
            (lambda: Library("prim", "DEF"), ValueError, "reserved namespace"),
            (lambda: Library("aten", "DEF"), RuntimeError, "namespace aten"),
            (lambda: lib.define("f(Tensr x) -> Tensor"), RuntimeError, "Tensr"),
            (lambda: lib.define("f(Tensor x) -> Tensor", "ODD"), RuntimeError, "alias_analysis"),
            (lambda: lib.impl("f", 3, "CPU"), TypeError, "callable"),
            (lambda: lib.impl("f", len, "ODD"), RuntimeError, "could not parse dispatch key"),
            (lambda: lib.impl("f", len, "Autograd"), NotImplementedError, "register_autograd"),
            (lambda: lib.impl(3, len, "CPU"), RuntimeError, "name or an OpOverload"),
            (lambda: lib.impl("f", len, "CPU", with_keyset=True), NotImplementedError, "key set"),
            (lambda: lib.fallback(len, "CPU"), RuntimeError, "global namespace"),
            (lambda: Library("tl2", "IMPL").define("f(Tensor x) -> Tensor"), RuntimeError, "IMPL"),
        ]:
            with pytest.raises(kind, match=message):
                call()


def test_rules_wait_for_their_operator():
    library.impl("tl3::f", "cpu", lambda x: x * 3)
    library.register_fake("tl3::f", lambda x: taeda.empty_like(x))
    with pytest.raises(RuntimeError, match="has a fake impl already"):
        library.register_fake("tl3::f", lambda x: x)
    library.define("tl3::f", "(Tensor x) -> Tensor")
    assert taeda.ops.tl3.f(taeda.ones(1)).item() == 3
    assert taeda.ops.tl3.f(taeda.ones(1, device="meta")).is_meta
    with pytest.raises(RuntimeError, match="multiple times"):
        library.define("tl3::f", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="to look like"):
        library.define("tl3::g", "g(Tensor x) -> Tensor")


def test_decorators():
    with library_of("tl4") as lib:

        @library.define(lib, "f(Tensor x) -> Tensor")
        def _(x):
            return x + 1

        lib.define("g(Tensor x) -> Tensor")

        @library.impl(lib, "g", "CPU")
        def _(x):
            return x + 2

        library.define("tl4::h", "(Tensor x) -> Tensor", lib=lib, tags=taeda.Tag.pointwise)

        @library.impl("tl4::h", ("cpu", "meta"), lib=lib)
        def _(x):
            return x + 3

        x = taeda.zeros(1)
        made = [taeda.ops.tl4.f(x), taeda.ops.tl4.g(x), taeda.ops.tl4.h(x)]
        assert [t.item() for t in made] == [1, 2, 3]
        assert taeda.ops.tl4.h(taeda.zeros(2, device="meta")).shape == (2,)
        assert taeda.ops.tl4.h.default.tags == [taeda.Tag.pointwise]


def test_a_built_in_operator_gets_another_kernel():
    with library_of("aten") as lib:
        lib.impl("relu", lambda x: x * 0 + 7, "CPU")
        assert taeda.relu(taeda.ones(2)).tolist() == [7.0, 7.0]
        assert taeda.relu(taeda.ones(2, device="meta")).shape == (2,)
    assert taeda.relu(taeda.ones(2)).tolist() == [1.0, 1.0]


def test_a_fallback_serves_operators_without_a_kernel():
    with library_of("_") as every, library_of("tl5") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.define("g(Tensor x) -> Tensor")
        lib.impl("g", lambda x: x + 1, "CPU")
        every.fallback(lambda op, *args: args[0] * 0 - 1, "CPU")
        assert taeda.ops.tl5.f(taeda.ones(1)).item() == -1
        assert taeda.ops.tl5.g(taeda.ones(1)).item() == 2
        every._destroy()
        with pytest.raises(NotImplementedError):
            taeda.ops.tl5.f(taeda.ones(1))


def test_defaults_of_every_type():
    with library_of("tl6") as lib:
        lib.define(
            "f(Tensor x, int[2] a=1, float? b=None, bool c=True, str d='e, (f', ScalarType g=float64, Scalar h=2.5, "
            "MemoryFormat i=channels_last, Device j='meta', int[] k=[1, 2], Tensor[] l=[], bool[] m=[True]) -> ()"
        )
        got: list[Any] = []
        lib.impl("f", lambda *args: got.append(args[1:]), "CompositeExplicitAutograd")
        taeda.ops.tl6.f(taeda.ones(1))
        assert got == [
            (
                [1, 1],
                None,
                True,
                "e, (f",
                taeda.float64,
                2.5,
                taeda.channels_last,
                taeda.device("meta"),
                [1, 2],
                [],
                [True],
            )
        ]
        for text in (
            "f1(int x='a') -> ()",
            "f1(ScalarType x=nothing) -> ()",
            "f1(int[2] x=[1.5]) -> ()",
        ):
            with pytest.raises(ValueError, match=r"default|there is no"):
                lib.define(text)
            assert not table.is_defined("tl6::f1")


# ---- opcheck ----


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


def test_opcheck_finds_shared_memory():
    library.define("tl7::view", "(Tensor x) -> Tensor")
    library.impl("tl7::view", "default", lambda x: x.view(-1))
    found = library.opcheck("tl7::view", (taeda.ones(2, 2),), raise_exception=False)
    assert "result 0 shares memory with argument x" in str(found["test_schema"])
    library.define("tl7::declared", "(Tensor(a) x) -> Tensor(a)")
    library.impl("tl7::declared", "default", lambda x: x.view(-1))
    assert set(library.opcheck("tl7::declared", (taeda.ones(2, 2),)).values()) == {"SUCCESS"}


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (None, "no fake impl registered"),
        (lambda x: x.new_empty(3, 3), "shape"),
        (lambda x: x.new_empty(2, 3, dtype=taeda.int32), "dtype"),
        (lambda x: x.new_empty(3, 2).t(), "strides"),
        (lambda x: x.new_empty(2, 3, 1), "number of dimensions"),
    ],
)
def test_opcheck_finds_fake_kernels_that_differ(fake, message):
    @custom_op("tlib::faked", mutates_args=())
    def faked(x: Tensor) -> Tensor:
        return x.clone()

    if fake is not None:
        faked.register_fake(fake)
    with pytest.raises(Exception, match=f"test_faketensor failed: .*{message}"):
        library.opcheck(faked, (taeda.ones(2, 3),), test_utils="test_faketensor")


def test_opcheck_finds_results_that_change():
    count = iter(range(100))

    @custom_op("tlib::counts", mutates_args=())
    def counts(x: Tensor) -> Tensor:
        return x + next(count)

    counts.register_fake(lambda x: taeda.empty_like(x))
    found = library.opcheck(counts, (taeda.ones(2),), raise_exception=False)
    assert isinstance(found["test_aot_dispatch_dynamic"], AssertionError)
    found = library.opcheck(counts, (taeda.ones(2),), atol=5, rtol=0, raise_exception=False)
    assert set(found.values()) == {"SUCCESS"}


def test_opcheck_takes_what_it_documents(double):
    with pytest.raises(ValueError, match="are none of test_schema"):
        library.opcheck(double, (taeda.ones(1),), test_utils="odd")
    with pytest.raises(ValueError, match="both or neither"):
        library.opcheck(double, (taeda.ones(1),), rtol=1.0)
    with pytest.raises(ValueError, match="wanted a CustomOpDef"):
        library.opcheck(len, ())
    for op in (double, taeda.ops.tlib.double, taeda.ops.tlib.double.default, "tlib::double"):
        assert library.opcheck(op, (taeda.ones(1),), {"times": 3}, test_utils="test_schema") == {
            "test_schema": "SUCCESS"
        }
    assert set(library.opcheck(taeda.ops.aten.add, (taeda.ones(2), taeda.ones(2))).values()) == {
        "SUCCESS"
    }


def test_impl_abstract_is_the_earlier_name(double):
    with pytest.warns(FutureWarning, match="register_fake"):
        library.impl_abstract("tlib::double", lambda x, times: taeda.empty_like(x))
    assert double(taeda.ones(1, device="meta")).is_meta


def test_a_schema_that_is_none_is_a_value_error():
    with pytest.raises(SchemaError, match="no namespace"):
        table.define("f(Tensor x) -> Tensor")


def test_a_kernel_may_replace_itself(double):
    class Once:
        def __call__(self, x, times):
            double.register_kernel("cpu", lambda x, times: x * 0)
            return x * 9

    double.register_kernel("cpu", Once())
    assert double(taeda.ones(1)).item() == 9
    assert double(taeda.ones(1)).item() == 0
