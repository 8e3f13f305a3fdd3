"""Arguments of a call by the names of `forward`."""

from __future__ import annotations

import pytest

from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export._arguments import bound_arguments


class Model(nn.Module):
    def forward(self, x, *more, scale=1, **rest):
        return x


def test_names_in_the_order_of_the_leaves():
    made = bound_arguments(Model(), (1, 2, 3), {"scale": 4, "other": 5})
    assert [*made.items()] == [("x", 1), ("more_0", 2), ("more_1", 3), ("scale", 4), ("other", 5)]
    assert [*bound_arguments(Model(), (), {"other": 5, "x": 1})] == ["other", "x"]


def test_a_call_that_forward_does_not_take_is_refused():
    with pytest.raises(UserError, match="forward of Model: missing a required argument: 'x'"):
        bound_arguments(Model(), (), {})
