"""Programs moved to another device."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.export import export
from taeda.export.passes import move_to_device_pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("scale", taeda.ones(3))
        self.kept = taeda.full((3,), 2.0)

    def forward(self, x):
        return self.linear(x) * self.scale + self.kept + taeda.zeros(3, device=x.device)


@pytest.mark.parametrize("location", ["meta", taeda.device("meta"), {"cpu": "meta"}])
def test_everything_moves(location):
    program = export(Model(), (taeda.ones(2, 3),))
    assert move_to_device_pass(program, location) is program
    tensors = [*program.state_dict.values(), *program.constants.values()]
    assert len(tensors) == 4 and all(t.device.type == "meta" for t in tensors)
    assert isinstance(program.state_dict["linear.weight"], nn.Parameter)
    assert program.example_inputs[0][0].device.type == "meta"
    assert program.module()(taeda.ones(2, 3, device="meta")).device.type == "meta"


def test_devices_that_are_not_named_stay():
    program = export(Model(), (taeda.ones(2, 3),))
    before = program.state_dict["scale"]
    move_to_device_pass(program, {"meta": "cpu"})
    assert program.state_dict["scale"] is before


def test_what_is_refused():
    program = export(Model(), (taeda.ones(2, 3),))
    with pytest.raises(TypeError, match="got int"):
        move_to_device_pass(program, 3)
    with pytest.raises(TypeError, match="ExportedProgram, got int"):
        move_to_device_pass(3, "cpu")
    with pytest.raises(RuntimeError):
        move_to_device_pass(program, "nowhere")
    assert program.state_dict["scale"].device.type == "cpu"
