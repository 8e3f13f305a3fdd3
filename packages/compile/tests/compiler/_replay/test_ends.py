from __future__ import annotations

import taeda
from taeda.compiler._replay.ends import adds_gradients, arrived


def test_a_walk_ends_at_an_input_that_was_computed_from_another():
    x = taeda.tensor([2.0, 3.0], requires_grad=True)
    h = x * 2
    ones = [taeda.ones(2)]
    (for_x,), (for_h,) = arrived([x * h], [x, h], ones, apart=False)
    assert for_x.equal(h) and for_h.equal(x)
    (whole,) = taeda.autograd.grad(x * h, x, ones[0])
    assert whole.equal(for_x + 2 * for_h)


def test_parts_come_in_the_order_of_the_walk():
    x, w = taeda.randn(3), taeda.randn(3, requires_grad=True)
    y = (x * w).sin() + w.exp() * w
    (parts,) = arrived([y], [w], [taeda.ones(3)], apart=True)
    (total,) = taeda.autograd.grad(y.sum(), w)
    assert len(parts) == 3 and ((parts[0] + parts[1]) + parts[2]).equal(total)


def test_nothing_comes_for_what_no_result_reads():
    a, b = taeda.ones(1, requires_grad=True), taeda.ones(1, requires_grad=True)
    for apart in (False, True):
        assert [len(some) for some in arrived([a * 1], [a, b], [taeda.ones(1)], apart)] == [1, 0]


def test_hooks_of_inputs_are_left_to_the_walk_of_the_caller():
    for x in (taeda.ones(1, requires_grad=True), taeda.ones(1, requires_grad=True) * 1):
        x.register_hook(lambda g: g * 5)
        for apart in (False, True):
            ((found,),) = arrived([x * 2], [x], [taeda.ones(1)], apart)
            assert found.item() == 2


def test_an_input_that_gets_a_sum():
    x, w = taeda.ones(2, requires_grad=True), taeda.ones(2, requires_grad=True)
    h = x * 2
    assert not adds_gradients([(h * w).sin()], [h, w])
    assert adds_gradients([h * w + w], [h, w]) and adds_gradients([h.sin() * h], [h, w])
    assert not adds_gradients([h * w, x + 1], [x, h, w])  # x by itself, and h made of it before
