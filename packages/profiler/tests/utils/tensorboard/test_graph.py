"""Graphs of models, recorded in one run."""

import pytest
from tensorboard_reading import read

import taeda
from taeda.utils.tensorboard import SummaryWriter

nn = pytest.importorskip("taeda.nn", reason="models come with taeda-nn")


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(3, 4), nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))

    def forward(self, x, y):
        return {"sum": self.left(x) + self.right(y)}


def test_nodes_lie_in_their_modules_and_edges_follow_the_data(tmp_path):
    model = Branches()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, (taeda.rand(2, 3), taeda.rand(2, 3)))
    nodes = {node.name: list(node.input) for node in read(tmp_path).Graph().node}
    assert nodes["Branches/left/linear"] == [
        "input/0",
        "Branches/left/weight",
        "Branches/left/bias",
    ]
    assert nodes["Branches/right/0/linear"][0] == "input/1"
    assert nodes["Branches/add"] == ["Branches/left/linear", "Branches/right/0/linear"]
    assert nodes["output/0"] == ["Branches/add"]
    assert all(source in nodes for inputs in nodes.values() for source in inputs)


def test_a_model_is_left_as_it_was(tmp_path):
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    model[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = taeda.get_rng_state()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, taeda.rand(4, 3, generator=taeda.Generator()))
        with pytest.raises(RuntimeError):
            writer.add_graph(model, taeda.rand(4, 5, generator=taeda.Generator()))
    assert [part.training for part in model.modules()] == [True, True, False]
    assert all(taeda.equal(before[name], value) for name, value in model.state_dict().items())
    assert taeda.equal(state, taeda.get_rng_state())
