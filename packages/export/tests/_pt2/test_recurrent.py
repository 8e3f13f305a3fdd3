"""Recurrent layers in files: under the names that others know, with the same bits."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from program_models import normal

import taeda
from taeda import nn
from taeda.export import Dim, export, load, save
from taeda.export._pt2._recurrent import with_public_layers
from taeda.utils._pytree import tree_leaves

LAYERS = {
    "lstm": lambda: nn.LSTM(3, 4, 2),
    "lstm-both-ways": lambda: nn.LSTM(3, 4, bidirectional=True),
    "lstm-plain": lambda: nn.LSTM(3, 4, bias=False, batch_first=True),
    "gru": lambda: nn.GRU(3, 4, 2, bidirectional=True),
    "gru-plain": lambda: nn.GRU(3, 4, bias=False),
    "tanh": lambda: nn.RNN(3, 4, bidirectional=True),
    "relu": lambda: nn.RNN(3, 4, nonlinearity="relu", bias=False),
}


@pytest.mark.parametrize("name", LAYERS)
def test_files_hold_the_layers_by_name(name):
    layer = LAYERS[name]()
    sizes = ({0: Dim("t", max=20), 1: Dim("n", max=20)},)
    program = export(layer, (normal(5, 2, 3),), dynamic_shapes=sizes)
    file = io.BytesIO()
    save(program, file)
    with zipfile.ZipFile(file) as archive:
        graph = json.loads(archive.read("archive/models/model.json"))["graph_module"]["graph"]
    targets = [node["target"] for node in graph["nodes"]]
    assert not any(t.startswith("torch.ops.taeda.") for t in targets)
    assert any(t.startswith(f"torch.ops.aten.{_family(name)}") for t in targets)
    back = load(io.BytesIO(file.getvalue()))
    assert back.graph_signature.user_outputs == program.graph_signature.user_outputs
    run = back.module()
    for t, n in ((5, 2), (1, 4), (7, 1)):
        x = normal(t, n, 3)
        pairs = zip(tree_leaves(run(x)), tree_leaves(layer(x)), strict=True)
        assert all(a.equal(b) for a, b in pairs), (t, n)


def _family(name):
    return {"tanh": "rnn_tanh", "relu": "rnn_relu"}.get(name, name.split("-")[0])


def test_the_program_itself_stays_as_it_is():
    program = export(nn.GRU(3, 4), (normal(5, 2, 3),))
    before = program.graph_module.code
    assert with_public_layers(program.graph_module) is not program.graph_module
    assert program.graph_module.code == before and "_gru.default" in before
    plain = export(nn.Linear(3, 4), (normal(2, 3),)).graph_module
    assert with_public_layers(plain) is plain


def test_a_layer_in_a_branch():
    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.GRU(3, 3)

        def forward(self, x):
            return taeda.cond(x.sum() > 0, lambda y: self.layer(y)[0], lambda y: y * 2, (x,))

    model, file = Branch(), io.BytesIO()
    save(export(model, (normal(4, 2, 3),)), file)
    run = load(io.BytesIO(file.getvalue())).module()
    for x in (normal(4, 2, 3).abs(), -normal(4, 2, 3).abs()):
        assert run(x).equal(model(x))


def test_a_row_whose_share_is_no_linear_stays():
    class Sums(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.RNN(3, 4)

        def forward(self, x):
            return self.layer(x)[0]

    program = export(Sums(), (normal(5, 2, 3),))
    (row,) = (n for n in program.graph.nodes if "_rnn" in str(n.target))
    with program.graph.inserting_before(row):
        moved = program.graph.call_function(taeda.ops.aten.relu.default, (row.args[0],))
        moved.meta.update(row.args[0].meta)
    row.args = (moved, *row.args[1:])
    program.graph_module.recompile()
    assert "_rnn.default" in with_public_layers(program.graph_module).code
