"""Where saved tensors are computed again, and where they are kept all the same."""

from __future__ import annotations

import taeda
from taeda.autograd import _regions
from taeda.autograd.graph import saved_tensors_hooks


def packed_by(function):
    """How many tensors hooks around `function` are asked to pack."""
    seen = []
    with saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        function(taeda.ones(3, requires_grad=True))
    return len(seen)


def test_outside_of_a_region_hooks_see_what_is_saved():
    def inside(x):
        with _regions.kept():
            x.sin()

    assert packed_by(inside) == packed_by(lambda x: x.sin()) == 1


def test_inside_of_a_region_what_is_kept_passes_no_hook():
    def inside(x):
        with _regions.computed_again(), _regions.kept():
            x.sin()

    assert packed_by(inside) == 0


def test_a_region_ends_with_an_error_too():
    try:
        with _regions.computed_again():
            raise ValueError
    except ValueError:
        pass
    assert packed_by(lambda x: x.sin()) == 1
    with _regions.kept():
        assert packed_by(lambda x: x.sin()) == 1
