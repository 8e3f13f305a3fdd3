"""Sizes at which a program is traced: they are no example's, and fix nothing by chance."""

from __future__ import annotations

import pytest
from program_models import normal

from taeda import nn
from taeda.export import Dim, export
from taeda.nn import functional as F


def test_equal_sizes_of_the_example_are_no_relation():
    module = nn.Module()
    module.forward = lambda x: x.transpose(0, 1).contiguous()
    program = export(module, (normal(3, 3),), dynamic_shapes=({0: Dim("a"), 1: Dim("b")},))
    assert program.module()(normal(4, 6)).equal(normal(4, 6).t())


def test_what_must_divide_divides_at_every_size():
    module = nn.Module()
    module.forward = lambda x: x.view(x.shape[0] // 2, 2, -1).sum(1)
    program = export(module, (normal(6, 4),), dynamic_shapes=({0: Dim.AUTO},))
    assert program.module()(normal(10, 4)).shape == (5, 4)


def test_a_narrow_range():
    module = nn.Module()
    module.forward = lambda x: x.sum(0)
    program = export(module, (normal(3, 4),), dynamic_shapes=({0: Dim("n", min=3, max=4)},))
    assert program.range_constraints["s0"].upper == 4
    assert program.module()(normal(4, 4)).equal(normal(4, 4).sum(0))


def test_sizes_below_that_of_the_trace_are_tried():
    module = nn.Module()
    module.forward = lambda x: x.chunk(3, 0)[-1] * 2  # 4 has two parts, 8 has three
    program = export(module, (normal(4, 3),), dynamic_shapes=({0: Dim.AUTO},))
    assert program.module()(normal(4, 3)).equal(module(normal(4, 3)))
    for n in (1, 2, 3, 5, 6, 7, 9):
        with pytest.raises(AssertionError, match="Guard failed"):
            program.module()(normal(n, 3))


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_a_size_that_is_a_formula_of_one_that_is_fixed():
    module = nn.Module()
    module.forward = lambda x, y: (F.smooth_l1_loss(x, y).squeeze(), y + x)
    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    args = normal(4, 1, 4), normal(4, 3, 4)
    program = export(module, args, dynamic_shapes=shapes)
    for a, b in zip(program.module()(*args), module(*args), strict=True):
        assert a.equal(b)
