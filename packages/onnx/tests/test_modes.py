"""Modes of modules during an export."""

import pytest

from taeda import nn
from taeda.onnx import TrainingMode, is_in_onnx_export, select_model_mode_for_export
from taeda.onnx._modes import exporting


@pytest.mark.parametrize("mode", list(TrainingMode))
def test_every_part_has_its_own_mode_again(mode):
    model = nn.Sequential(nn.Dropout(), nn.Dropout().eval())
    model[0].train()
    before = [part.training for part in model.modules()]
    wanted = {TrainingMode.EVAL: [False] * 3, TrainingMode.TRAINING: [True] * 3}
    with select_model_mode_for_export(model, mode):
        assert [part.training for part in model.modules()] == wanted.get(mode, before)
    assert [part.training for part in model.modules()] == before


def test_what_is_no_mode_is_refused():
    with pytest.raises(TypeError, match="TrainingMode"):
        select_model_mode_for_export(nn.Dropout(), 0).__enter__()


def test_an_export_in_an_export_is_one():
    with exporting():
        with exporting():
            assert is_in_onnx_export()
        assert is_in_onnx_export()
    assert not is_in_onnx_export()
