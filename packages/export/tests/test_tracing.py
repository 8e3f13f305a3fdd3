"""Sizes at which a program is traced: they are no example's, and fix nothing by chance."""

from __future__ import annotations

from program_models import normal

from taeda import nn
from taeda.export import Dim, export


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
