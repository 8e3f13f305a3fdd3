"""The calls of modules that nodes are in."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.export import export


class Raising(nn.Module):
    def forward(self, x):
        raise ValueError("no")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.raising, self.lstm = Raising(), nn.LSTM(3, 4)

    def forward(self, x):
        try:
            self.raising(x)
        except ValueError:
            x = x + 1
        return self.lstm(self.lstm(x)[0][..., :3])[0]


def test_each_node_has_its_calls():
    graph = export(Model(), (taeda.ones(2, 3, 3),)).graph
    found = {
        n.name: list(n.meta["nn_module_stack"]) for n in graph.nodes if n.op == "call_function"
    }
    assert found["add"] == []  # the module that raised is left
    assert found["_lstm"] == ["lstm"] and found["_lstm_1"] == ["lstm@1"]
    assert found["getitem"] == ["lstm"]
    (entry,) = {n.meta["nn_module_stack"]["lstm"] for n in graph.nodes if n.name == "_lstm"}
    assert entry == ("lstm", "LSTM")
