"""What a program asks of sizes: fixes that help, and ranges of sizes without a name."""

from __future__ import annotations

import pytest
from program_models import normal

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, export
from taeda.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes

WEIGHT = taeda.ones(3, 2)


@pytest.mark.parametrize(
    ("f", "sizes", "shapes", "fix"),
    [
        (lambda x: x @ WEIGHT, [(4, 3)], ({0: Dim("a"), 1: Dim("b")},), "b = None  # 3"),
        (lambda x, y: x + y, [(4,), (4,)], ({0: Dim("a")}, {0: Dim("b")}), "b = a"),
        (lambda x, y: x + y, [(1,), (1,)], ({0: Dim("a")}, {0: Dim("b")}), "b = a"),
        (lambda x, y: x + y[1:], [(4,), (5,)], ({0: Dim("a")}, {0: Dim("b")}), "b = a + 1"),
        (
            lambda x, y: taeda.cat([x, x]) + y, [(4,), (8,)], ({0: Dim("a")}, {0: Dim("b")}),
            "b = 2*a",
        ),
        (lambda x: x.view(-1, 4) + 1, [(8,)], ({0: Dim("a")},), "a = 4*_a"),
        (lambda x: x + taeda.arange(10)[: x.shape[0]], [(4,)], ({0: Dim("a")},), "max=10"),
        (lambda x: x + 1 if x.shape[0] <= 5 else x, [(4,)], ({0: Dim("a")},), "max=5"),
        (
            lambda x: x + 1 if x.shape[0] + x.shape[1] <= 9 else x, [(4, 5)],
            ({0: Dim("a"), 1: Dim("b")},), "a = None  # 4",
        ),
        (lambda x: x + 1 if x.shape[0] > 3 else x, [(4,)], ({0: Dim("a")},), "min=4"),
    ],
)  # fmt: skip
def test_what_a_program_asks_of_sizes_is_a_fix_that_helps(f, sizes, shapes, fix):
    args = tuple(normal(*size) for size in sizes)

    class Made(nn.Module):
        def forward(self, x, y=None):
            return f(x) if y is None else f(x, y)

    with pytest.raises(UserError) as error:
        export(Made(), args, dynamic_shapes=shapes)
    assert fix in str(error.value)
    wanted = refine_dynamic_shapes_from_suggested_fixes(str(error.value), shapes)
    program = export(Made(), args, dynamic_shapes=wanted)
    assert program.module()(*args).equal(f(*args))
    auto = tuple(dict.fromkeys(demand, Dim.AUTO) for demand in shapes)
    found = export(Made(), args, dynamic_shapes=auto)
    assert found.module()(*args).equal(f(*args))
