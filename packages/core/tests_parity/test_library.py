"""Programs that define operators, run on both libraries: the same values, gradients, texts, and
kinds of refusal.
"""

from __future__ import annotations

from typing import Any

import pytest

import taeda

torch = pytest.importorskip("torch")

PROGRAMS: list[Any] = []


def program(function):
    PROGRAMS.append(function)
    return function


def annotated(function, returns, **parameters):
    function.__annotations__ = {**parameters, "return": returns}
    return function


def scaled(t, library, name="par::scaled"):
    """x * by, by numpy, with everything registered."""
    kernel = annotated(
        lambda x, by=2.5: t.from_numpy(x.numpy(force=True) * by), t.Tensor, x=t.Tensor, by=float
    )
    op = library.custom_op(name, kernel, mutates_args=())
    op.register_fake(lambda x, by=2.5: t.empty_like(x))

    def setup(ctx, inputs, output):
        ctx.by = inputs[1]

    op.register_autograd(lambda ctx, grad: (grad * ctx.by, None), setup_context=setup)
    return op


@program
def values_gradients_and_shapes(t, library):
    op = scaled(t, library)
    x = t.arange(3.0).requires_grad_()
    y = op(x, 3.0)
    y.sum().backward()
    fake = op(t.empty(2, 3, device="meta"))
    return y.tolist(), x.grad.tolist(), tuple(fake.shape), fake.device.type, y.grad_fn.name()


@program
def names_and_texts(t, library):
    scaled(t, library)
    op = t.ops.par.scaled
    return (
        str(op),
        repr(op),
        str(op.default),
        repr(op.default),
        str(op.default._schema),
        op.overloads(),
        op.default.name(),
    )


@program
def texts_of_built_in_operators(t, library):
    found = [
        t.ops.aten.relu.default,
        t.ops.aten.exp.default,
        t.ops.aten.mul.Tensor,
        t.ops.aten.mm.default,
    ]
    return [(str(op), op.name(), str(op._schema)) for op in found]


@program
def second_derivatives(t, library):
    op = library.custom_op(
        "par::cube", annotated(lambda x: x**3, t.Tensor, x=t.Tensor), mutates_args=()
    )
    op.register_autograd(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = t.tensor([2.0], dtype=t.float64, requires_grad=True)
    (first,) = t.autograd.grad(op(x), x, create_graph=True)
    (second,) = t.autograd.grad(first, x)
    return first.item(), second.item()


@program
def mutation_and_versions(t, library):
    def bump(x, by):
        x.add_(by)

    op = library.custom_op(
        "par::bump", annotated(bump, None, x=t.Tensor, by=int), mutates_args={"x"}
    )
    x = t.zeros(2)
    before = x._version
    return op(x, 3), x.tolist(), x._version > before, op(t.empty(2, device="meta"), 1)


@program
def lists_and_several_results(t, library):
    def kernel(xs, n):
        return [x * n for x in xs], xs[0].sum(), n + 1

    op = library.custom_op(
        "par::lists",
        annotated(kernel, tuple[list[t.Tensor], t.Tensor, int], xs=list[t.Tensor], n=int),
        mutates_args=(),
    )
    made, total, number = op([t.ones(1), t.ones(2)], 4)
    return type(made).__name__, [x.tolist() for x in made], total.item(), number


@program
def kernels_by_device(t, library):
    op = scaled(t, library)
    op.register_kernel("cpu", lambda x, by=2.5: x * 0 + 7)
    first = op(t.ones(1)).item()
    with op.set_kernel_enabled("cpu", enabled=False):
        return first, op(t.ones(1)).item()


@program
def low_level_libraries(t, library):
    lib = library.Library("parlow", "DEF")
    name = lib.define("f(Tensor x, *, int[] n=[1, 2]) -> Tensor")
    lib.define("f.two(Tensor x, Tensor y) -> (Tensor, Tensor)")
    got = []
    lib.impl("f", lambda x, n=(1, 2): (got.append(list(n)), x + 1)[1], "CPU")
    lib.impl("f.two", lambda x, y: (x + y, x - y), "CPU")
    op = t.ops.parlow.f
    made = [
        op(t.ones(1)).item(),
        [v.item() for v in op(t.ones(1), t.ones(1))],
        op.overloads(),
        name,
        got,
    ]
    lib._destroy()
    return made


@program
def composites_are_differentiated_through(t, library):
    lib = library.Library("parcomp", "FRAGMENT")
    lib.define("sq(Tensor x) -> Tensor")
    lib.impl("sq", lambda x: x * x, "CompositeImplicitAutograd")
    x = t.tensor([3.0], requires_grad=True)
    t.ops.parcomp.sq(x).backward()
    return x.grad.tolist()


@program
def opcheck_of_a_good_operator(t, library):
    return library.opcheck(
        scaled(t, library), (t.ones(2, dtype=t.float64, requires_grad=True), 3.0)
    )


@program
def opcheck_finds_an_undeclared_write(t, library):
    def kernel(x):
        x.add_(1)
        return x.clone()

    op = library.custom_op("par::sneaky", annotated(kernel, t.Tensor, x=t.Tensor), mutates_args=())
    op(t.ones(1))
    found = library.opcheck(op, (t.ones(1),), test_utils="test_schema", raise_exception=False)
    return found["test_schema"] != "SUCCESS"


@program
def dispatch_modes(t, library):
    from importlib import import_module

    mode_type = import_module(f"{t.__name__}.utils._python_dispatch").TorchDispatchMode

    class Log(mode_type):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), len(args), sorted(kwargs or {})))
            return func(*args, **(kwargs or {}))

    seen: list[Any] = []
    op, x = scaled(t, library), t.ones(2)
    with Log():
        op(x)
        op(x, 3.0)
        t.add(x, x, alpha=2)
        x.exp()
    return seen


@program
def function_overrides(t, library):
    class Sub(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return super().__torch_function__(func, types, args, kwargs or {})

    seen: list[str] = []
    op, x = scaled(t, library), t.ones(1).as_subclass(Sub)
    made = type(op(x)).__name__, type(t.ops.par.scaled(x)).__name__
    return made, seen


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
@pytest.mark.filterwarnings("ignore")
def test_programs_give_the_same(run):
    from torch import library as theirs

    from taeda import library as ours

    assert run(taeda, ours) == run(torch, theirs)


def plain(t):
    return annotated(lambda x: x.clone(), t.Tensor, x=t.Tensor)


def no_kernel(t, library):
    library.define("par::nokernel", "(Tensor x) -> Tensor")
    return lambda: t.ops.par.nokernel(t.ones(1))


def twice(t, library):
    library.define("par::twice", "(Tensor x) -> Tensor")
    return lambda: library.define("par::twice", "(Tensor x) -> Tensor")


def backward_without_a_rule(t, library):
    op = library.custom_op("par::norule", plain(t), mutates_args=())
    return lambda: op(t.ones(1, requires_grad=True)).sum().backward()


def meta_without_a_fake(t, library):
    op = library.custom_op("par::nofake", plain(t), mutates_args=())
    return lambda: op(t.empty(1, device="meta"))


def gives_its_input(t, library):
    op = library.custom_op(
        "par::same", annotated(lambda x: x, t.Tensor, x=t.Tensor), mutates_args=()
    )
    return lambda: op(t.ones(1))


def derivative_of_a_write(t, library):
    op = library.custom_op(
        "par::write", annotated(lambda x: None, None, x=t.Tensor), mutates_args=("x",)
    )
    return lambda: op.register_autograd(lambda ctx, g: g)


REFUSALS = {
    "no kernel": (no_kernel, NotImplementedError),
    "defined twice": (twice, RuntimeError),
    "no derivative": (backward_without_a_rule, RuntimeError),
    "no fake": (meta_without_a_fake, RuntimeError),
    "input as output": (gives_its_input, RuntimeError),
    "derivative of a write": (derivative_of_a_write, RuntimeError),
    "no "
    "annotation": (lambda t, lib: lambda: lib.custom_op("par::a", lambda x: x, mutates_args=()), ValueError),
    "odd "
    "annotation": (lambda t, lib: lambda: lib.infer_schema(annotated(lambda x: x, t.Tensor, x=dict),
        mutates_args=()), ValueError),
    "unknown mutated": (lambda t, lib: lambda: lib.infer_schema(plain(t), mutates_args=("y",)), ValueError),
    "no mutates_args": (lambda t, lib: lambda: lib.custom_op("par::b", plain(t)), TypeError),
    "no namespace": (lambda t, lib: lambda: lib.custom_op("b", plain(t), mutates_args=()), ValueError),
    "undefined": (lambda t, lib: lambda: t.ops.par.undefined, AttributeError),
    "no overload": (lambda t, lib: lambda: t.ops.aten.add.undefined, AttributeError),
    "autograd of "
    "undefined": (lambda t, lib: lambda: lib.register_autograd("par::undefined", lambda c, g: g),
        AttributeError),
    "odd kind": (lambda t, lib: lambda: lib.Library("parkind", "ODD"), ValueError),
    "second "
    "DEF": (lambda t, lib: lambda: (lib.Library("pardef", "DEF"), lib.Library("aten", "DEF")), RuntimeError),
    "malformed": (lambda t, lib: lambda: lib.Library("parmal",
        "FRAGMENT").define("f(Tensr x) -> Tensor"), RuntimeError),
    "no callable": (lambda t, lib: lambda: lib.Library("parmal", "FRAGMENT").impl("f", 3, "CPU"), TypeError),
    "odd key": (lambda t, lib: lambda: lib.Library("parmal", "FRAGMENT").impl("f", len, "ODD"), RuntimeError),
    "odd device": (lambda t, lib: lambda: lib.impl("parmal::x", "odd", len), RuntimeError),
    "fallback "
    "elsewhere": (lambda t, lib: lambda: lib.Library("parmal", "FRAGMENT").fallback(len, "CPU"),
        RuntimeError),
}  # fmt: skip


@pytest.mark.parametrize(("prepare", "kind"), REFUSALS.values(), ids=REFUSALS)
def test_refusals_are_of_one_kind(prepare, kind):
    from torch import library as theirs

    from taeda import library as ours

    for t, library in ((taeda, ours), (torch, theirs)):
        with pytest.raises(kind):
            prepare(t, library)()


def test_get_ctx_outside_of_a_fake_kernel():
    from taeda import library as ours

    assert ours.get_ctx() is None
