"""Gradients of any layout, where branches of a cond, or kernels of the program, have layouts of their own."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

MATRIX = taeda.randn(4, 4, generator=taeda.Generator().manual_seed(1))
BRANCHES = {
    "product and flip": (lambda a: a @ MATRIX, lambda a: a.flip(0)),
    "flip and product": (lambda a: a.flip(0), lambda a: a @ MATRIX),
    "product and number": (lambda a: a @ MATRIX, lambda a: a * 2),
    "two products": (lambda a: a @ MATRIX, lambda a: a @ MATRIX.t()),
    "two of one layout": (lambda a: a.sin(), lambda a: a * 2),
}
#: gradients as programs hand them on
LAYOUTS = {
    "rows": lambda r, g: taeda.randn(r.shape, generator=g),
    "columns": lambda r, g: taeda.randn(r.shape[::-1], generator=g).permute(*range(r.dim())[::-1]),
    "one number": lambda r, g: taeda.randn((), generator=g).expand(r.shape),
    "one row": lambda r, g: taeda.randn(r.shape[-1], generator=g).expand(r.shape),
    "every other": lambda r, g: taeda.randn((*r.shape, 2), generator=g)[..., 0],
    "the first two turned": lambda r, g: taeda.randn(
        (r.shape[1], r.shape[0], *r.shape[2:]), generator=g
    ).transpose(0, 1),
}


@taeda.library.custom_op("layouts_of_cond::doubled", mutates_args=())
def doubled(x: taeda.Tensor) -> taeda.Tensor:
    return x * 2


doubled.register_fake(taeda.empty_like)
doubled.register_autograd(lambda ctx, g: g * 2)

FUNCTIONS = {
    name: lambda m, y, both=both: taeda.cond(y.flatten()[0] > 0, *both, (m(y),)) + 0
    for name, both in BRANCHES.items()
}
# its backward has more walks than that of a product, and those of one layout alone are left out
FUNCTIONS["behind a norm"] = lambda m, y: taeda.cond(
    y.flatten()[0] > 0,
    *(lambda a, b: a * b, lambda a, b: a - b.sin()),
    (nn.functional.normalize(m(y), dim=1), y),
)
FUNCTIONS["a custom operator"] = lambda m, y: doubled(m(y)) + 0


@pytest.mark.parametrize("shape", [(2, 4), (3, 2, 4)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_every_layout_are_those_of_the_program(name, shape):
    taeda.manual_seed(0)
    layer, function = nn.Linear(4, 4), FUNCTIONS[name]
    compiled = taeda.compile(lambda y: function(layer, y), backend="aot_eager")
    drawn = taeda.Generator().manual_seed(0)
    inputs = [taeda.randn(shape, generator=drawn) for _ in range(4)]
    for y in (*inputs, *inputs):
        for layout in LAYOUTS.values():
            result, plain = compiled(y), function(layer, y)
            gradient = layout(plain, drawn)
            found = taeda.autograd.grad(result, list(layer.parameters()), gradient)
            wanted = taeda.autograd.grad(plain, list(layer.parameters()), gradient)
            for a, b in zip(found, wanted, strict=True):
                assert taeda.equal(a, b)
    assert any(t.trusted for traces in compiled.__taeda_compiled__.traces.values() for t in traces)
