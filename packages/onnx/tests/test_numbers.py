"""Numbers that differ from call to call are tensors without dimensions in a model."""

from __future__ import annotations

import pytest
from size_results import CASES, Of, given, shapes

import taeda
from taeda import onnx
from taeda.export import export
from taeda.onnx._numbers import KINDS, as_tensor, kind_of
from taeda.onnx._seen import Seen


@pytest.mark.parametrize("name", ["floats", "answers", "quotients", "of-data-floats"])
def test_outputs_of_a_model_are_what_the_program_gives_but_constants(name):
    program = export(Of(CASES[name]), (given(4),), dynamic_shapes=shapes())
    made = onnx.export(program, verify=False)
    wanted = Seen(program).results([given(9)])
    assert [(p.dtype, p.sizes) for p in made.model.outputs] == [(t.dtype, []) for t in wanted]
    leaves = taeda.utils._pytree.tree_leaves(program.module()(given(9)))
    assert [t.item() for t in wanted] == leaves


def test_numbers_as_tensors():
    for number, dtype in ((3, taeda.int64), (0.1, taeda.float64), (True, taeda.bool)):
        made = as_tensor(number)
        assert made.dtype == dtype == KINDS[kind_of(number)] and made.item() == number
    x = taeda.ones(2)
    assert as_tensor(x) is x
