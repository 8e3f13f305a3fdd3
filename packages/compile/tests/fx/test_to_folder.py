from __future__ import annotations

import importlib
import os
import sys

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.passes.split_module import split_module


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.head, self.tied = nn.Linear(4, 2), nn.Linear(4, 2)
        self.tied.weight = self.head.weight
        self.scale = nn.Parameter(taeda.ones(2), requires_grad=False)
        self.register_buffer("shift", taeda.arange(2.0), persistent=False)
        self.plain = taeda.full((2,), 3.0)

    def forward(self, x):
        y = self.stem(x).mean((2, 3))
        return (self.head(y) + self.tied(y)) * self.scale + self.shift + self.plain


def written(gm, folder, name="FxModule"):
    """The class that a person who got the folder imports."""
    gm.to_folder(folder, name)
    return imported(folder, name)


def imported(folder, name="FxModule"):
    sys.path.insert(0, str(folder.parent))
    try:
        importlib.invalidate_caches()
        sys.modules.pop(folder.name, None)
        sys.modules.pop(f"{folder.name}.module", None)
        return getattr(importlib.import_module(folder.name), name)
    finally:
        sys.path.remove(str(folder.parent))


@pytest.fixture
def folder(tmp_path, request):
    return tmp_path / f"written_{request.node.name.replace('[', '_').replace(']', '')}"


def test_the_folder_computes_the_same(folder):
    model = Model()
    model.stem[1].running_mean += 1
    model.eval()
    model.tied.train()
    gm, x = fx.symbolic_trace(model), taeda.randn(2, 3, 6, 6)
    kind, state = written(gm, folder, "Bar"), taeda.get_rng_state()
    made = kind()
    assert taeda.get_rng_state().equal(state)  # nothing was drawn
    assert made(x).equal(gm(x))
    assert made.head.weight is made.tied.weight
    assert not made.scale.requires_grad and made.head.weight.requires_grad
    assert list(made.state_dict()) == list(gm.state_dict())
    assert not made.training and made.tied.training
    assert sorted(p.name for p in folder.iterdir() if p.suffix) == [
        "__init__.py", "module.py", "state_dict.pt",
    ]  # fmt: skip


def test_nested_graph_modules(folder):
    gm = fx.symbolic_trace(Model().eval())
    parts = split_module(gm, gm, lambda n: int("stem" not in n.name))
    x = taeda.randn(2, 3, 6, 6)
    assert written(parts, folder)()(x).equal(gm(x))


def test_functions_are_imported_by_name(folder):
    gm = fx.symbolic_trace(lambda x: nn.functional.gelu(x) * float("inf"))
    assert written(gm, folder)()(taeda.ones(2)).tolist() == [float("inf")] * 2


def test_a_second_time_replaces_the_first(folder):
    written(fx.symbolic_trace(lambda x: x + 1), folder)
    assert written(fx.symbolic_trace(lambda x: x + 2), folder)()(taeda.zeros(1)).item() == 2


def test_a_second_time_within_a_second_replaces_the_first(folder, monkeypatch):
    """Bytecode of the first would be taken for that of the second, which is as long and as old."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written(fx.symbolic_trace(lambda x: x + 1), folder)
    text = folder / "module.py"
    before = text.stat()
    fx.symbolic_trace(lambda x: x + 2).to_folder(folder)
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert text.stat().st_size == before.st_size
    assert imported(folder)()(taeda.zeros(1)).item() == 2


class Hidden(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Linear(size, size)

    def forward(self, x):
        return self.inner(x)


class Doubling(nn.Linear):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__(in_features, out_features * 2, bias)


class Leaves(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return True


@pytest.mark.parametrize(
    ("leaf", "text"),
    [(Hidden(2), "wants 'size'"), (Doubling(2, 2), "would differ from it in out_features")],
)
def test_a_module_that_cannot_be_built_again_is_refused_before_anything_is_written(
    folder, leaf, text
):
    root = nn.Sequential(leaf)
    gm = fx.GraphModule(root, Leaves().trace(root))
    with pytest.raises(RuntimeError, match=text):
        gm.to_folder(folder)
    assert not folder.exists()


def test_a_function_without_a_name_is_refused(folder):
    graph = fx.Graph()
    graph.output(graph.call_function(lambda x: x, (graph.placeholder("x"),)))
    with pytest.raises(RuntimeError, match="at the top of a module that can be imported"):
        fx.GraphModule({}, graph).to_folder(folder)
    with pytest.raises(ValueError, match="identifier"):
        fx.symbolic_trace(abs).to_folder(folder, "a b")
    assert not folder.exists()


def test_hooks_are_refused(folder):
    model = nn.Sequential(nn.ReLU())
    model[0].register_forward_hook(lambda *args: None)
    with pytest.raises(RuntimeError, match="_hook"):
        fx.symbolic_trace(model).to_folder(folder)
