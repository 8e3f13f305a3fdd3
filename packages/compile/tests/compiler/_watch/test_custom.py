"""Operators that were defined at run time in recorded runs: what is a node, what is refused, which
registrations end a graph.
"""

from __future__ import annotations

import numpy as np
import pytest
from custom_operators import defined, nothing, runs, same, tripled

import taeda
from taeda import Tensor
from taeda._library import table
from taeda._library.low_level import scoped_library
from taeda.autograd.function import once_differentiable
from taeda.compiler import Stop
from taeda.library import custom_op


def _by_custom_op(space):
    @custom_op(f"{space.ns}::triple", mutates_args=())
    def triple(x: Tensor) -> Tensor:
        return tripled(x)

    triple.register_fake(taeda.empty_like)
    return triple


def _by_library(space):
    return defined(space, "triple(Tensor x) -> Tensor", tripled, taeda.empty_like)


def _by_overload(space):
    defined(space, "triple(Tensor x) -> Tensor", tripled, taeda.empty_like)
    return defined(
        space,
        "triple.other(Tensor x, int n=1) -> Tensor",
        lambda x, n: tripled(x) * n,
        lambda x, n: taeda.empty_like(x),
    )


@pytest.mark.parametrize("make", [_by_custom_op, _by_library, _by_overload])
def test_an_operator_is_a_node_however_it_was_defined(space, make):
    op = make(space)
    runs(lambda x: op(x.sin()) + x.cos(), lambda: (taeda.randn(5),))


def _shared():
    kept = taeda.zeros(3)
    return lambda x: kept


@pytest.mark.parametrize(
    ("schema", "kernel", "why"),
    [
        ("f(Tensor x) -> Tensor", lambda x: x, "memory that was there before"),
        ("f(Tensor x) -> Tensor", lambda x: x[:], "memory that was there before"),
        ("f(Tensor x) -> Tensor", _shared(), "memory that was there before"),
        (
            "f(Tensor x) -> (Tensor, Tensor)",
            lambda x: (y := x + 1, y.view(-1)),
            "or gives it twice",
        ),
        ("f(Tensor x) -> Tensor", lambda x: x.add_(1) * 2, "writes to an argument of which"),
        ("f(Tensor(a) x) -> Tensor(a)", lambda x: x[:], "gives a view"),
        ("f(Tensor x) -> int", lambda x: 3, "gives a int"),
        ("f(Tensor(a!) x) -> ()", lambda x: nothing(x.resize_(1)), "changes the shape"),
    ],
)
def test_what_cannot_be_called_again_stays_eager(space, schema, kernel, why):
    op = defined(space, schema, kernel, kernel)
    with pytest.raises(Stop, match=why):
        taeda.compile(lambda x: op(x + 0), fullgraph=True)(taeda.ones(3))
    slow = taeda.compile(lambda x: op(x + 0))
    assert str(slow(taeda.ones(3))) == str(op(taeda.ones(3)))


def test_without_a_fake_kernel_it_says_which_to_give(space):
    op = defined(space, "bare(Tensor x) -> Tensor", tripled)
    fast = taeda.compile(lambda x: op(x) + 1, fullgraph=True)
    with pytest.raises(Stop, match=rf'register_fake\("{space.ns}::bare", function\)'):
        fast(taeda.ones(2))
    taeda.library.register_fake(f"{space.ns}::bare", taeda.empty_like)
    assert taeda.compile(lambda x: op(x) + 1, fullgraph=True)(taeda.ones(2)).tolist() == [4, 4]


def test_sizes_that_follow_from_values_stay_eager(space):
    def fake(x):
        return x.new_empty(taeda.library.get_ctx().new_dynamic_size())

    op = defined(space, "positive(Tensor x) -> Tensor", lambda x: x[x > 0].clone())
    taeda.library.register_fake(f"{space.ns}::positive", fake)
    with pytest.raises(Stop, match="reads values"):
        taeda.compile(lambda x: op(x), fullgraph=True)(taeda.ones(3))


def _squared(space, kernel=None):
    op = defined(
        space,
        "square(Tensor x, float k) -> Tensor",
        kernel or (lambda x, k: taeda.from_numpy(x.detach().numpy() ** 2 * k)),
        lambda x, k: taeda.empty_like(x),
    )
    back = defined(
        space,
        "square_back(Tensor g, Tensor x, float k) -> Tensor",
        lambda g, x, k: taeda.from_numpy(np.ascontiguousarray(2 * k * g.numpy() * x.numpy())),
        lambda g, x, k: taeda.empty_like(x),
    )

    def setup(ctx, inputs, output):
        x, ctx.k = inputs
        ctx.save_for_backward(x)

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return back(g, x, ctx.k), None

    taeda.library.register_autograd(f"{space.ns}::square", backward, setup_context=setup)
    return op


def test_gradients_of_a_registered_derivative_outside(space):
    op = _squared(space)
    f = lambda x: op(x.sin(), 1.5) * x  # noqa: E731
    fast = taeda.compile(f, fullgraph=True, backend="aot_eager")
    for number in range(14):
        x = taeda.randn(4, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        (f(x) * number).sum().backward()
        made = fast(y)
        (made * number).sum().backward()
        assert taeda.equal(x.grad, y.grad)
    assert type(made.grad_fn).__name__ == "CompiledBackward"


def test_a_training_step_with_a_registered_derivative(space):
    op = _squared(space)

    def trained(compiled):
        taeda.manual_seed(0)
        model = taeda.nn.Sequential(taeda.nn.Linear(4, 4), taeda.nn.Linear(4, 2))
        optimizer = taeda.optim.SGD(model.parameters(), lr=1e-3)

        def step(x):
            optimizer.zero_grad()
            loss = op(model[1](op(model[0](x), 0.5)), 2.0).mean()
            loss.backward()
            optimizer.step()
            return loss

        step = taeda.compile(step, fullgraph=True) if compiled else step
        losses = [step(taeda.randn(3, 4)).item() for _ in range(35)]
        return losses, [p.tolist() for p in model.parameters()]

    assert trained(True) == trained(False)


def test_gradients_of_gradients_say_that_a_kernel_is_not_called_again(space):
    op = _squared(space)
    fast = taeda.compile(lambda x: op(x, 1.0), fullgraph=True, backend="aot_eager")
    for _ in range(4):
        x = taeda.ones(2, requires_grad=True)
        y = fast(x)
    with pytest.raises(RuntimeError, match="operators that were defined at run time"):
        taeda.autograd.grad(y.sum(), x, create_graph=True)


def test_a_derivative_reads_what_guards_know(space):
    """A global of a backward function is part of what the graph depends on."""
    factor = [2.0]
    op = defined(space, "scaled(Tensor x) -> Tensor", lambda x: x * 1, taeda.empty_like)
    taeda.library.register_autograd(f"{space.ns}::scaled", lambda ctx, g: g * factor[0])
    fast = taeda.compile(lambda x: op(x), fullgraph=True, backend="aot_eager")
    for number in range(9):
        factor[0] = float(number // 3)
        x = taeda.ones(2, requires_grad=True)
        fast(x).sum().backward()
        assert x.grad.tolist() == [factor[0]] * 2


class Doubled(taeda.autograd.Function):
    """A custom Function, which a compiled program sees through."""

    factor = 2.0

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x.sin() * k * Doubled.factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.k * Doubled.factor, None


class Once(taeda.autograd.Function):
    """Its derivative has none."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Apart(taeda.autograd.Function):
    """A context of its own function, several results, no zeros in place of gradients."""

    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.y = inputs
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g, h):
        one = 0 if g is None else g * ctx.y
        return (one if h is None else one + h), h


class Inner(taeda.autograd.Function):
    """A derivative by autograd itself."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        return x.sin() * y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with taeda.enable_grad():
            own = x.detach().requires_grad_()
            (found,) = taeda.autograd.grad(own.cos().sum(), own)
        return g * found, g


def _first_of_apart(x, y):
    return Apart.apply(x, y)[0]


@pytest.mark.parametrize("function", [Once.apply, _first_of_apart, Inner.apply])
def test_forms_of_custom_functions(function):
    def f(x, y):
        return function(x * 2, y) + 1

    fast = taeda.compile(f, fullgraph=True, backend="aot_eager")
    for _ in range(12):
        ours = [taeda.randn(3, requires_grad=True) for _ in range(2)]
        theirs = [t.detach().clone().requires_grad_() for t in ours]
        one, other = f(*ours), fast(*theirs)
        one.sum().backward()
        other.sum().backward()
        assert same(one, other)
        for a, b in zip(ours, theirs, strict=True):
            assert (a.grad is None) == (b.grad is None)
            assert a.grad is None or taeda.equal(a.grad, b.grad)


def test_a_custom_function_is_part_of_the_graph(monkeypatch):
    f = lambda x: Doubled.apply(x, 3.0) + x  # noqa: E731
    fast = taeda.compile(f, fullgraph=True, backend="aot_eager")
    for number in range(15):
        monkeypatch.setattr(Doubled, "factor", float(number // 5))
        x = taeda.randn(4, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        one, other = f(x), fast(y)
        one.sum().backward()
        other.sum().backward()
        assert same(one, other)
        assert taeda.equal(x.grad, y.grad)


def _rekernel(space):
    space.impl("op", lambda x: x * 5, "CPU", allow_override=True)


def _redefine(space):
    space._destroy()
    space.__init__(space.ns, "DEF")
    defined(space, "op(Tensor x) -> Tensor", lambda x: x * 7, taeda.empty_like)
    taeda.library.register_autograd(f"{space.ns}::op", lambda ctx, g: g * 20)


def _rederive(space):
    taeda.library.register_autograd(f"{space.ns}::op", lambda ctx, g: g * 100)


def _refake(space):
    space.impl("op", lambda x: x.new_empty(x.shape), "Meta", allow_override=True)


@pytest.mark.parametrize("change", [_rekernel, _redefine, _rederive, _refake])
def test_a_registration_ends_the_graphs_that_knew_less(space, change):
    defined(space, "op(Tensor x) -> Tensor", lambda x: x * 3, taeda.empty_like)
    taeda.library.register_autograd(f"{space.ns}::op", lambda ctx, g: g * 10)
    call = lambda x: getattr(taeda.ops, space.ns).op(x) + x  # noqa: E731
    fast = taeda.compile(call, fullgraph=True, backend="aot_eager")

    def both():
        for _ in range(4):
            x = taeda.ones(2, requires_grad=True)
            y = taeda.ones(2, requires_grad=True)
            one, other = call(x), fast(y)
            assert taeda.equal(one, other)
            one.sum().backward()
            other.sum().backward()
            assert taeda.equal(x.grad, y.grad)

    both()
    change(space)
    both()


def test_an_operator_that_went_is_missed_as_by_the_program(space):
    defined(space, "gone(Tensor x) -> Tensor", tripled, taeda.empty_like)
    call = lambda x: getattr(taeda.ops, space.ns).gone(x)  # noqa: E731
    fast = taeda.compile(call, fullgraph=True)
    for _ in range(3):
        fast(taeda.ones(2))
    space._destroy()
    with pytest.raises(AttributeError):
        call(taeda.ones(2))
    with pytest.raises(AttributeError):
        fast(taeda.ones(2))


def test_a_composite_is_seen_through(space):
    name = space.define("made(Tensor x) -> Tensor")
    factor = [2.0]
    space.impl(name, lambda x: x.sin() * factor[0], "CompositeImplicitAutograd")
    op = getattr(taeda.ops, space.ns).made
    fast = taeda.compile(lambda x: op(x) + 1, fullgraph=True)
    for number in range(9):
        factor[0] = float(number // 3)
        x = taeda.randn(3)
        assert taeda.equal(fast(x), x.sin() * factor[0] + 1)


def test_without_gradients_and_in_inference_mode(space):
    op = _squared(space)
    fast = taeda.compile(lambda x: op(x, 2.0) + 1, fullgraph=True)
    for around in (taeda.no_grad, taeda.inference_mode, taeda.enable_grad):
        for _ in range(4):
            x = taeda.ones(2, requires_grad=True)
            with around():
                one, other = fast(x), op(x, 2.0) + 1
            assert taeda.equal(one, other)
            assert one.requires_grad == other.requires_grad


@pytest.mark.parametrize("how", ["kernel", "derivative"])
def test_a_built_in_operator_that_is_overridden_ends_all_graphs(how):
    def f(x):
        return (x.sin() + 1).sum()

    fast = taeda.compile(f, backend="aot_eager")

    def both():
        for _ in range(4):
            x, y = taeda.ones(3, requires_grad=True), taeda.ones(3, requires_grad=True)
            one, other = f(x), fast(y)
            one.backward()
            other.backward()
            assert taeda.equal(one, other)
            assert taeda.equal(x.grad, y.grad)
        return one.item(), x.grad[0].item()

    before = both()
    with scoped_library("aten", "IMPL") as library:
        try:
            if how == "kernel":
                library.impl("sin", lambda x: taeda.full_like(x, 100.0), "CPU")
            else:
                taeda.library.register_autograd("aten::sin", lambda ctx, g: g * 1000)
            assert both() != before
        finally:
            table.set_rule("sin", "autograd", None)
    assert both() == before
