"""Operators in C++ for torch's headers, with fake kernels in Python, in compiled programs."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
struct Square : torch::autograd::Function<Square> {
  static Tensor forward(AutogradContext *ctx, Tensor x, double k) {
    ctx->save_for_backward({x});
    ctx->saved_data["k"] = k;
    return x * x * k;
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list g) {
    auto x = ctx->get_saved_variables()[0];
    return {g[0] * 2 * x * ctx->saved_data["k"].toDouble(), Tensor()};
  }
};
struct Product : torch::autograd::Function<Product> {
  static Tensor forward(AutogradContext *ctx, Tensor x, Tensor y) {
    x = x.contiguous();
    ctx->save_for_backward({x, y});
    return x * y;
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list g) {
    auto saved = ctx->get_saved_variables();
    auto x = saved[0], y = saved[1];
    Tensor for_x, for_y;
    if (torch::autograd::any_variable_requires_grad({x})) for_x = g[0] * y;
    if (y.requires_grad()) for_y = g[0] * x;
    TORCH_CHECK(!g[0].requires_grad());
    return {for_x, for_y};
  }
};
Tensor product(const Tensor &x, const Tensor &y) { return Product::apply(x, y); }
Tensor square(const Tensor &x, double k) { return Square::apply(x, k); }
Tensor first(const Tensor &x) { return torch::full({2}, x.contiguous().data_ptr<float>()[0]); }
void add(Tensor x, const Tensor &y) { x.add_(y); }
TORCH_LIBRARY(compiled_cpp, m) {
  m.def("square(Tensor x, float k) -> Tensor");
  m.def("product(Tensor x, Tensor y) -> Tensor", &product);
  m.def("first(Tensor x) -> Tensor", &first);
  m.def("add(Tensor(a!) x, Tensor y) -> ()");
}
TORCH_LIBRARY_IMPL(compiled_cpp, CPU, m) { m.impl("add", &add); }
TORCH_LIBRARY_IMPL(compiled_cpp, Autograd, m) { m.impl("square", &square); }
"""


@pytest.fixture(scope="module")
def ops():
    load_inline("compiled_cpp", SOURCE, torch_headers=True, is_python_module=False)
    found = taeda.ops.compiled_cpp
    taeda.library.register_fake("compiled_cpp::square")(lambda x, k: taeda.empty_like(x))
    taeda.library.register_fake("compiled_cpp::first")(lambda x: x.new_empty(2))
    return found


def test_a_fake_in_python_sees_the_arguments_of_the_schema(ops):
    assert ops.square(taeda.empty(3, device="meta"), 2.0).shape == (3,)


def test_what_cpp_computes_is_computed_in_each_call(ops):
    fast = taeda.compile(lambda x: ops.first(x) + 1, fullgraph=True)
    for number in range(5):
        assert fast(taeda.ones(3) * number).tolist() == [number + 1.0] * 2


def test_derivatives_in_cpp_inside_and_outside(ops):
    def f(x):
        return ops.square(x.sin(), 1.5) + ops.square(x, 2.0) * x

    def step(x):
        loss = f(x).sum()
        loss.backward()
        return loss

    outside = taeda.compile(f, fullgraph=True, backend="aot_eager")
    inside = taeda.compile(step, fullgraph=True, backend="aot_eager")
    for number in range(14):
        x = taeda.randn(4, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        z = x.detach().clone().requires_grad_()
        (f(x) * number).sum().backward()
        (outside(y) * number).sum().backward()
        assert taeda.equal(x.grad, y.grad)
        x.grad = None
        step(x)
        inside(z)
        assert taeda.equal(x.grad, z.grad)


def test_what_cpp_writes(ops):
    def f(x, y):
        ops.add(x[1:], y)
        return x * 2

    fast = taeda.compile(f, fullgraph=True)
    for _ in range(6):
        x, y = taeda.randn(3), taeda.randn(2)
        other = x.clone()
        assert taeda.equal(f(x, y), fast(other, y))
        assert taeda.equal(x, other)


def test_an_overload_is_what_its_author_wrote(ops):
    x = taeda.randn(3, requires_grad=True)
    assert str(ops.square.default._schema) == "compiled_cpp::square(Tensor x, float k) -> Tensor"
    assert taeda.equal(ops.square.default(x, 2.0), ops.square(x, 2.0))
    ops.square.default(x, 2.0).sum().backward()
    assert taeda.equal(x.grad, 4 * x.detach())
    assert pickle.loads(pickle.dumps(ops.square.default)) is ops.square.default
    taeda.library.opcheck(ops.square.default, (x.detach(), 2.0))


def test_a_program_of_no_gradients_is_differentiated_later(ops):
    class Squared(taeda.nn.Module):
        def forward(self, x):
            return ops.square(x.sin(), 2.0) + 1

    x = taeda.randn(3)
    fx = pytest.importorskip("taeda.fx.experimental.proxy_tensor")
    export = pytest.importorskip("taeda.export").export
    for program in (fx.make_fx(Squared())(x), export(Squared(), (x,)).module()):
        one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
        Squared()(one).sum().backward()
        program(other).sum().backward()
        assert taeda.equal(one.grad, other.grad)
        assert "taeda_needs" not in str(getattr(program, "graph", ""))


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True)])
def test_backward_asks_of_saved_tensors_whether_they_require_gradients(ops, wanted):
    x, y = (taeda.randn(3, requires_grad=one) for one in wanted)
    ops.product(x, y).sum().backward()
    for this, other, one in ((x, y, wanted[0]), (y, x, wanted[1])):
        assert (this.grad is not None) is one
        assert not one or taeda.equal(this.grad, other.detach())
