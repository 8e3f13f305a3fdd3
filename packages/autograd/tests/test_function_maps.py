"""Custom functions inside of vmap."""

from __future__ import annotations

import pytest

import taeda
from taeda.func import grad, vmap


def close(a, b):
    taeda.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


class Cube(taeda.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x**2


class Scaled(taeda.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        assert info.batch_size == 3
        assert info.randomness == "error"
        x, y = (v.unsqueeze(0) if d is None else v for v, d in zip((x, y), in_dims, strict=True))
        return Scaled.apply(x, y.expand_as(x) if y.dim() == x.dim() else y), 0


def test_custom_functions_say_how_they_are_mapped():
    x, y = taeda.randn(3, 4), taeda.randn(4)
    close(vmap(Cube.apply)(x), x**3)
    close(vmap(grad(lambda x: Cube.apply(x).sum()))(x), 3 * x**2)
    close(vmap(lambda x: Scaled.apply(x, y))(x), x * y)
    close(vmap(grad(lambda x: Scaled.apply(x, y).sum()))(x), y.expand(3, 4))

    class Silent(Cube):
        generate_vmap_rule = False

    class Twice(Scaled):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(Silent.apply)(x)
    with pytest.raises(RuntimeError, match="avoid ambiguity"):
        vmap(Twice.apply)(x, x)


@pytest.mark.parametrize("given", ["shared", "own"])
def test_a_sample_that_forward_captures_is_refused_where_it_has_a_derivative(given):
    def run(x):
        def of_one(w):
            class Captures(Cube):
                @staticmethod
                def forward(x):
                    return x * w

            return Captures.apply(x if given == "shared" else x * w)

        return vmap(of_one)(taeda.ones(2, 3)).sum(0)

    x = taeda.randn(3)
    with pytest.raises(RuntimeError, match="pass it to that function as an argument"):
        grad(lambda x: run(x).sum())(x)
    with pytest.raises(RuntimeError, match="pass it to that function as an argument"):
        run(x.requires_grad_())


def test_results_of_an_outer_map_inside_of_an_inner_one_keep_their_order():
    class Twice(Scaled):
        @staticmethod
        def vmap(info, in_dims, x, y):
            return x * y * inner.pop(), 0

    inner = []

    def of_one(x):
        def of_two(w):
            inner.append(w)
            return Twice.apply(x, 2.0)

        return vmap(of_two)(taeda.tensor([3.0, 5.0, 7.0, 9.0]))

    x = taeda.randn(2)
    close(vmap(of_one)(x), 2 * x[:, None] * taeda.tensor([3.0, 5.0, 7.0, 9.0]))
