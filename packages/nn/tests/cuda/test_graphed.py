"""Callables that replay graphs: what is refused without a device; test_graphs of core has the rest."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


@pytest.mark.parametrize("sample", [taeda.ones(1, 2), 3])
def test_arguments_elsewhere_are_refused(sample):
    with pytest.raises(TypeError, match="sample_args must be tensors on a CUDA device"):
        taeda.cuda.make_graphed_callables(nn.Linear(2, 2), (sample,))


def test_each_callable_wants_its_arguments():
    with pytest.raises(ValueError, match="1 callables, but 2 tuples"):
        taeda.cuda.make_graphed_callables(
            (nn.Linear(2, 2),), ((taeda.ones(1, 2),), (taeda.ones(1, 2),))
        )
