"""Derivatives of operators that are defined at run time: by an extension in C, and by the module
`library`.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import taeda
from taeda import Tensor, library
from taeda.autograd import grad, gradcheck, gradgradcheck

custom_op = library.custom_op

EXTENSIONS = Path(__file__).parents[2] / "core/tests/extensions"
INCLUDE = Path(taeda.__file__).parent / "include"


@pytest.fixture(scope="module")
def scale(tmp_path_factory):
    """An operator whose derivative, and the derivative of that, are C."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on this machine")
    out = tmp_path_factory.mktemp("extension") / "operators.so"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        '-DNAMESPACE="abigrad"',
        f"-I{INCLUDE}",
        str(EXTENSIONS / "operators.c"),
    ]
    subprocess.run([*command, "-o", str(out)], check=True)
    taeda.ops.load_library(out)
    return taeda.ops.abigrad.scale


def test_a_derivative_in_c(scale):
    x = taeda.ones(3, requires_grad=True)
    y = scale(x, 4.0)
    (first,) = grad(y, x, taeda.tensor([1.0, 2.0, 3.0]))
    assert first.tolist() == [4.0, 8.0, 12.0]


def test_a_second_derivative_in_c(scale):
    x = taeda.ones(3, requires_grad=True)
    seed = taeda.ones(3, requires_grad=True)
    (first,) = grad(scale(x, 4.0), x, seed, create_graph=True)
    (second,) = grad((first * first).sum(), seed)
    assert second.tolist() == [32.0, 32.0, 32.0]


def test_an_operator_without_a_derivative_refuses_at_backward(scale):
    x = taeda.ones(3, requires_grad=True)
    y = taeda.ops.abigrad.composed(x)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula was registered for it"):
        y.sum().backward()


def test_a_write_without_a_derivative_is_not_passed_silently(scale):
    x = taeda.ones(3, requires_grad=True)
    y = x * 2
    taeda.ops.abigrad.bump(y)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        taeda.ops.abigrad.bump(x)
    with taeda.no_grad():
        assert taeda.ops.abigrad.bump(x).tolist() == [2.0, 2.0, 2.0]


def test_a_view_of_an_extension_is_a_view(scale):
    x = taeda.arange(4.0)
    part = taeda.ops.abigrad.window(x, 1, 2)
    part.mul_(10)
    assert x.tolist() == [0.0, 10.0, 20.0, 3.0]
    assert part._version == x._version


# ---- of Python functions ----


@custom_op("tgrad::product", mutates_args=())
def product(x: Tensor, y: Tensor, power: int) -> Tensor:
    """x * y ** power, by numpy: nothing here is differentiable."""
    return taeda.from_numpy(x.numpy() * y.numpy() ** power)


def _save(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])
    ctx.power = inputs[2]


def _product_backward(ctx, grad):
    x, y = ctx.saved_tensors
    return grad * y**ctx.power, grad * x * ctx.power * y ** (ctx.power - 1), None


product.register_autograd(_product_backward, setup_context=_save)
product.register_fake(lambda x, y, power: taeda.empty_like(x))


def double64(*shape):
    return (taeda.rand(*shape, dtype=taeda.float64) + 0.5).requires_grad_()


def test_a_derivative_in_python_twice():
    x, y = double64(3), double64(3)
    assert gradcheck(lambda x, y: product(x, y, 3), (x, y))
    assert gradgradcheck(lambda x, y: product(x, y, 3), (x, y))
    assert set(library.opcheck(product, (x, y, 2)).values()) == {"SUCCESS"}


def test_the_node_is_named_after_the_operator():
    made = product(double64(2), double64(2), 2)
    assert made.grad_fn.name() == "GeneratedBackwardFor_tgrad_product_defaultBackward"


def test_only_wanted_gradients_and_calls_outside_the_graph():
    x, y = double64(2), double64(2).detach()
    product(x, y, 2).sum().backward()
    assert x.grad.tolist() == (y**2).tolist()
    with taeda.no_grad():
        assert not product(x, y, 2).requires_grad
    assert not product(y, y, 2).requires_grad


def test_a_saved_argument_that_is_written_is_noticed():
    x, y = double64(2), double64(2).detach()
    made = product(x, y, 2)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


def test_a_second_backward_says_that_the_graph_is_gone():
    made = product(double64(2), double64(2), 2).sum()
    made.backward()
    with pytest.raises(RuntimeError, match="second time"):
        made.backward()


def test_keyword_only_arguments():
    @custom_op("tgrad::scaled", mutates_args=())
    def scaled(x: Tensor, *, by: float, shift: float = 0.0) -> Tensor:
        return x * by + shift

    def setup(ctx, inputs, keyword_only_inputs, output):
        assert not taeda.is_grad_enabled()
        assert len(inputs) == 1
        ctx.by = keyword_only_inputs["by"]

    scaled.register_autograd(lambda ctx, grad: grad * ctx.by, setup_context=setup)
    x = double64(2)
    scaled(x, by=3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_lists_of_tensors_and_several_results():
    @custom_op("tgrad::lists", mutates_args=())
    def lists(xs: list[Tensor], k: float) -> tuple[list[Tensor], Tensor, int]:
        return [x * k for x in xs], xs[0] + xs[1], 7

    def setup(ctx, inputs, output):
        assert ctx.needs_input_grad == ([True, False], False)
        assert len(output) == 3
        ctx.k = inputs[1]

    def backward(ctx, parts, whole, number):
        assert number is None
        return [part * ctx.k + whole for part in parts], None

    lists.register_autograd(backward, setup_context=setup)
    a, b = double64(2), double64(2).detach()
    (first, second), whole, number = lists([a, b], 3.0)
    assert number == 7
    (first.sum() + 2 * second.sum() + 10 * whole.sum()).backward()
    assert a.grad.tolist() == [13.0, 13.0]


def test_results_without_a_gradient_and_missing_gradients():
    @custom_op("tgrad::two", mutates_args=())
    def two(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x * 2, x * 3, (x > 0).to(taeda.int64)

    def setup(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    def backward(ctx, a, b, c):
        assert b is None
        assert c is None
        return a * 2

    two.register_autograd(backward, setup_context=setup)
    x = double64(2)
    first, second, third = two(x)
    assert (first.requires_grad, second.requires_grad, third.requires_grad) == (True, False, False)
    first.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda ctx, g: (), "incorrect number of gradients"),
        (lambda ctx, g: (g, g), "incorrect number of gradients"),
        (lambda ctx, g: 3.0, "returned a float as a gradient"),
    ],
)
def test_backward_functions_that_return_something_else(backward, message):
    @custom_op("tgrad::odd", mutates_args=())
    def odd(x: Tensor) -> Tensor:
        return x.clone()

    odd.register_autograd(backward)
    with pytest.raises(RuntimeError, match=message):
        odd(double64(2)).sum().backward()


def test_what_cannot_have_a_derivative():
    @custom_op("tgrad::writes", mutates_args={"x"})
    def writes(x: Tensor) -> None:
        x.zero_()

    with pytest.raises(RuntimeError, match="non-functional operator"):
        writes.register_autograd(lambda ctx, g: g)

    @custom_op("tgrad::keyword", mutates_args=())
    def keyword(x: Tensor, *, y: Tensor) -> Tensor:
        return x + y

    with pytest.raises(NotImplementedError, match="keyword-only"):
        keyword.register_autograd(lambda ctx, g: g)


def test_a_missing_derivative_is_told_at_backward():
    @custom_op("tgrad::none", mutates_args=())
    def none(x: Tensor) -> Tensor:
        return x.clone()

    none.register_fake(lambda x: taeda.empty_like(x))
    made = none(double64(2))
    assert made.requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        made.sum().backward()
    with pytest.raises(Exception, match="test_autograd_registration failed"):
        library.opcheck(none, (double64(2),))


def test_a_composite_operator_is_differentiated_through():
    lib = library.Library("tgradc", "FRAGMENT")
    lib.define("cube(Tensor x) -> Tensor")
    lib.impl("cube", lambda x: x * x * x)
    x = double64(3)
    assert gradcheck(taeda.ops.tgradc.cube, x)
    assert set(library.opcheck("tgradc::cube", (x,)).values()) == {"SUCCESS"}


def test_opcheck_finds_a_wrong_gradient():
    @custom_op("tgrad::wrong", mutates_args=())
    def wrong(x: Tensor) -> Tensor:
        return x * x

    wrong.register_fake(lambda x: taeda.empty_like(x))
    wrong.register_autograd(lambda ctx, g: g)
    for sample in (double64(2), taeda.rand(2).requires_grad_()):
        with pytest.raises(Exception, match="test_aot_dispatch_dynamic failed: Jacobian mismatch"):
            library.opcheck(wrong, (sample,))
    assert set(library.opcheck(wrong, (double64(2).detach(),)).values()) == {"SUCCESS"}


def test_gradients_of_an_overridden_built_in_are_its_own():
    with _scoped("aten") as lib:
        lib.impl("sin", lambda x: taeda.from_numpy(x.numpy() * 0 + 5), "CPU")
        x = double64(2)
        made = x.sin()
        assert made.tolist() == [5.0, 5.0]
        made.sum().backward()
        assert taeda.allclose(x.grad, x.detach().cos())


def _scoped(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "IMPL")
