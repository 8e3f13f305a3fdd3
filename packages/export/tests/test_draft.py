"""Programs whose demands are changed where they cannot be met."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, draft_export, export


class Fixing(nn.Module):
    """Its second size is a number."""

    def forward(self, x):
        return x * 2 if x.shape[1] == 5 else x.cumsum(0)


def test_a_size_that_the_program_fixes_is_a_number_and_the_report_says_so():
    x, shapes = taeda.ones(3, 5), ({0: Dim("n"), 1: Dim("m")},)
    with pytest.raises(UserError, match="Suggested fixes"):
        export(Fixing(), (x,), dynamic_shapes=shapes)
    with pytest.warns(UserWarning, match=r"draft_export: 1 demands .*changed"):
        program = draft_export(Fixing(), (x,), dynamic_shapes=shapes)
    report = program._report
    assert not report.successful() and len(report.failures) == 1 and "m = None" in str(report)
    run = program.module()
    assert run(taeda.ones(7, 5)).equal(Fixing()(taeda.ones(7, 5)))
    with pytest.raises(AssertionError, match="Guard failed"):
        run(taeda.ones(7, 6))
    export(Fixing(), (x,), dynamic_shapes=report.dynamic_shapes)


def test_nothing_is_changed_that_holds():
    program = draft_export(nn.Linear(3, 2), (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("n")},))
    assert program._report.successful() and "no demand was changed" in str(program._report)


def test_errors_without_a_fix_stay():
    with pytest.raises(TypeError, match="args must be a tuple"):
        draft_export(nn.Linear(3, 2), taeda.ones(4, 3))
    with pytest.raises(UserError, match="is no dimension"):
        draft_export(nn.Linear(3, 2), (taeda.ones(4, 3),), dynamic_shapes=({7: Dim("n")},))
    with pytest.raises(UserError, match="Constraints violated"):
        draft_export(Fixing(), (taeda.ones(3, 5),), dynamic_shapes=({1: Dim.DYNAMIC},))
