"""Whole modules in files: recorded by their classes' names, given back to those who allow them,
refused to others.
"""

from __future__ import annotations

import dataclasses
import enum
import io
import subprocess
import sys

import pytest

import taeda
from taeda import nn, serialization


class Mode(enum.Enum):
    FAST = 1


@dataclasses.dataclass
class Config:
    width: int
    mode: Mode = Mode.FAST


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config(3)
        self.body = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten())
        self.rnn = nn.LSTM(8, 4, 2, bidirectional=True)
        self.layer = nn.TransformerEncoderLayer(8, 2, dropout=0.0)
        self.tied = self.body[0]
        self.register_buffer("scale", taeda.tensor(2.0), persistent=False)

    def forward(self, x):
        return self.layer(self.rnn(self.body(x)[None])[0]) * self.scale


class Loud(nn.Module):
    """Says when its code runs."""

    ran: list[str] = []

    def __init__(self):
        super().__init__()
        self.ran.append("init")

    def __setstate__(self, state):
        self.ran.append("setstate")
        super().__setstate__(state)


FORMS = ("safetensors", "pt")
WORDS = r"test_saving.Net.*add_safe_globals\(\[.*Net.*\]\).*weights_only=False"


@pytest.fixture
def net():
    taeda.manual_seed(0)
    return Net().eval()


@pytest.fixture(params=FORMS)
def stored(request, net, tmp_path):
    path = tmp_path / f"net.{request.param}"
    taeda.save(net, path)
    assert (path.read_bytes()[:2] == b"PK") is (request.param == "pt")
    return path


X = taeda.arange(32.0).reshape(2, 1, 4, 4)[:, :, :, :4] / 32


def same(made, net):
    assert type(made) is Net and (made(X) == net(X)).all()
    assert made.tied is made.body[0] and made.config == net.config
    assert [n for n, _ in made.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert all(isinstance(p, nn.Parameter) for p in made.parameters())
    assert "scale" not in made.state_dict() and not made.training
    made.body[0].weight = nn.Parameter(taeda.zeros(2, 1, 3, 3))  # its tables are its own
    assert made.body[0]._parameters["weight"].sum() == 0


def test_a_module_is_refused_with_its_class_and_the_two_ways(stored):
    with pytest.raises(RuntimeError, match=WORDS):
        taeda.load(stored)
    assert any(n.endswith(".Net") for n in serialization.get_unsafe_globals_in_checkpoint(stored))


def test_allowed_classes_bring_the_layers_of_taeda_with_them(stored, net):
    with serialization.safe_globals([Net, Config, Mode]):
        assert serialization.get_unsafe_globals_in_checkpoint(stored) == []
        same(taeda.load(stored), net)
        assert taeda.load(stored, map_location="meta").rnn.weight_ih_l0.is_meta
    with pytest.raises(RuntimeError, match="Net"):
        taeda.load(stored)


def test_what_is_still_missing_is_named(stored):
    with (
        serialization.safe_globals([Net]),
        pytest.raises(RuntimeError, match=r"test_saving\.Config"),
    ):
        taeda.load(stored)


def test_the_user_s_word_loads_it_with_one_warning_that_names_the_file(stored, net):
    with pytest.warns(UserWarning, match=stored.name) as told:
        same(taeda.load(stored, weights_only=False), net)
    assert len(told) == 1 and told[0].filename == __file__
    file = io.BytesIO(stored.read_bytes())
    with pytest.warns(UserWarning, match=r"Net.* run their code"):
        same(taeda.load(file, weights_only=False), net)


@pytest.mark.parametrize("name", ["TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TAEDA_FORCE_WEIGHTS_ONLY_LOAD"])
def test_the_environment_may_forbid_it(stored, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    with pytest.raises(RuntimeError, match=f"refused here, because {name} is set"):
        taeda.load(stored, weights_only=False)
    taeda.save({"x": taeda.ones(1)}, stored)  # data needs no word
    assert taeda.load(stored, weights_only=False)["x"] == 1
    monkeypatch.setenv(name, "0")
    assert taeda.load(stored, weights_only=False)["x"] == 1


@pytest.mark.parametrize("form", FORMS)
def test_no_code_of_an_allowed_class_runs(form, tmp_path):
    path = tmp_path / f"loud.{form}"
    taeda.save(Loud(), path)
    Loud.ran.clear()
    with serialization.safe_globals([Loud]):
        assert type(taeda.load(path)) is Loud
    assert Loud.ran == []


def test_layers_alone_need_a_word_too(tmp_path):
    path = tmp_path / "layers.pt"
    taeda.save(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), path)
    with pytest.raises(RuntimeError, match=r"add_safe_globals\(\[Sequential\]\)"):
        taeda.load(path)
    with serialization.safe_globals([nn.Module]):
        assert isinstance(taeda.load(path)[0], nn.Linear)


@pytest.mark.parametrize("form", FORMS)
def test_a_class_that_no_file_can_name_is_refused_at_once(form, tmp_path):
    class Local(nn.Module):
        pass

    with pytest.raises(TypeError, match=r"Local.*inside a function.*state_dict"):
        taeda.save(Local(), tmp_path / f"x.{form}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("form", FORMS)
def test_functions_in_a_module_have_names_or_are_refused(form, tmp_path):
    net = nn.Sequential(nn.Linear(1, 1))
    net.function = lambda x: x
    with pytest.raises(TypeError, match="function"):
        taeda.save(net, tmp_path / f"x.{form}")


def test_objects_outside_of_modules_are_refused_as_before(tmp_path):
    for form in FORMS:
        with pytest.raises(TypeError, match="Config"):
            taeda.save({"config": Config(1)}, tmp_path / f"x.{form}")


STATES = {
    "no dict": [1],
    "no tables": {"training": True},
    "a table of another kind": {"_parameters": [], "_buffers": {}, "_modules": {}},
    "names that are no texts": {"_parameters": {}, "_buffers": {}, "_modules": {}, 3: 4},
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_state_that_is_no_module_s_is_refused(state, tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    with monkeypatch.context() as patch:
        patch.setattr(nn.Module, "__getstate__", lambda self: state)
        taeda.save(nn.Identity(), path)
    with (
        serialization.safe_globals([nn.Module]),
        pytest.raises(serialization.FormatError, match="state of a module"),
    ):
        taeda.load(path)


PROGRAM = """
import sys, warnings, taeda
warnings.simplefilter("ignore")
made = taeda.load(sys.argv[1], weights_only=False)
print(type(made).__name__, made[0].weight.tolist())
"""


def test_a_process_that_has_not_imported_layers_loads_them(tmp_path):
    path = tmp_path / "layers.pt"
    layers = nn.Sequential(nn.Linear(1, 1))
    taeda.save(layers, path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[0] == f"Sequential {layers[0].weight.tolist()}", done.stderr


@pytest.mark.parametrize("layers", [0, -1, 10**12, "2", None, True])
def test_a_recurrent_module_has_as_many_layers_as_its_parameters_allow(layers):
    tables = {"_parameters": {}, "_buffers": {}, "_modules": {}}
    state = {**tables, "_is_full_backward_hook": None, "bidirectional": True, "num_layers": layers}
    with pytest.raises(TypeError, match="of 0 parameters cannot have"):
        nn.LSTM(2, 2).__setstate__(state)
