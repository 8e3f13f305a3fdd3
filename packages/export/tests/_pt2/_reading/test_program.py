"""Programs that are read are those that were written, tensors and ranges included."""

from __future__ import annotations

import io

import taeda
from taeda import nn
from taeda.export import Dim, export, load, save


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("calls", taeda.zeros((), dtype=taeda.int64))
        self.register_buffer("scale", taeda.tensor([2.0, 0.5]), persistent=False)

    def forward(self, x, *, flag=True):
        self.calls.add_(1)
        y = self.layer(x) * self.scale
        return {"y": y if flag else -y, "flag": flag}


def again(program):
    target = io.BytesIO()
    save(program, target)
    return load(io.BytesIO(target.getvalue()))


def test_state_constants_ranges_and_trees():
    model = Counted()
    batch = Dim("batch", min=2, max=64)
    free = {"x": {0: batch}, "flag": None}
    program = export(model, (taeda.randn(4, 3),), {"flag": False}, dynamic_shapes=free)
    found = again(program)
    assert list(found.state_dict) == list(program.state_dict)
    assert all(found.state_dict[k].equal(v) for k, v in program.state_dict.items())
    assert str(found.range_constraints) == str(program.range_constraints)
    assert str(found.graph_signature) == str(program.graph_signature)
    x, run = taeda.randn(7, 3), found.module()
    made, wanted = run(x, flag=False), model(x, flag=False)
    assert made["y"].equal(wanted["y"]) and made["flag"] is False
    assert run.calls.item() == 1
