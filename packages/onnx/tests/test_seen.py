"""A run of a program leaves its tensors as they are, and gives new values last."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.export import export
from taeda.onnx._seen import Seen


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", taeda.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return x + self.calls


def test_results_come_first_and_nothing_is_written():
    program = export(Counts(), (taeda.ones(2),)).run_decompositions({})
    seen = Seen(program, keep=True)
    for _ in range(2):
        result, calls = seen.results([taeda.ones(2)])
        assert result.tolist() == [2, 2] and calls.item() == 1
    assert seen.values[program.graph_signature.user_outputs[0]].tolist() == [2, 2]
    assert not Seen(program).values and not program.state_dict["calls"]
