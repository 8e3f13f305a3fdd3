"""Objects of other libraries that are plain data, by packages of their names and shapes."""

from __future__ import annotations

import dataclasses
import enum
import io
import sys
import types
import weakref

import pytest

import taeda
from taeda._neighbours import plain_data


class SaveStrategy(enum.StrEnum):
    STEPS = "steps"


@dataclasses.dataclass
class TrainingArguments:
    output_dir: str
    save_strategy: SaveStrategy
    factor: float = 0.5


class Data:
    def __init__(self, **values):
        self._store = GlobalStorage(self, values)
        self._edge_attr_cls = DataEdgeAttr


class GlobalStorage:
    def __init__(self, owner, values):
        self.__dict__.update(_mapping=values, _parent=weakref.ref(owner))

    def __getattr__(self, name):
        raise RuntimeError("code of the class runs")


class DataEdgeAttr:
    pass


PLACES = {
    "transformers.training_args": [TrainingArguments],
    "transformers.trainer_utils": [SaveStrategy],
    "torch_geometric.data.data": [Data, DataEdgeAttr],
    "torch_geometric.data.storage": [GlobalStorage],
}


@pytest.fixture
def libraries(monkeypatch):
    for place, kinds in PLACES.items():
        module = types.ModuleType(place)
        for kind in kinds:
            monkeypatch.setattr(kind, "__module__", place)
            setattr(module, kind.__qualname__, kind)
        monkeypatch.setitem(sys.modules, place, module)


def back(value, form):
    file = io.BytesIO()
    taeda.save(value, file, format=form)
    file.seek(0)
    return file


@pytest.mark.parametrize("form", ["safetensors", "pt"])
def test_settings_come_back(libraries, form):
    given = TrainingArguments("here", SaveStrategy.STEPS)
    found = taeda.load(back({"args": given}, form))["args"]
    assert found == given and type(found) is TrainingArguments
    assert found.save_strategy is SaveStrategy.STEPS


@pytest.mark.parametrize("form", ["safetensors", "pt"])
def test_graphs_come_back_and_own_their_stores(libraries, form):
    given = Data(x=taeda.ones(2, 3), y=taeda.arange(2))
    found = taeda.load(back(given, form))
    assert found._store._mapping["x"].tolist() == [[1] * 3] * 2
    assert vars(found._store)["_parent"]() is found and found._edge_attr_cls is DataEdgeAttr
    assert vars(given._store)["_parent"]() is given


@pytest.mark.parametrize("form", ["safetensors", "pt"])
def test_file_imports_nothing(libraries, form, monkeypatch):
    file = back(TrainingArguments("here", SaveStrategy.STEPS), form)
    monkeypatch.delitem(sys.modules, "transformers.training_args")
    with pytest.raises(taeda.serialization.FormatError, match="TrainingArguments"):
        taeda.load(file)
    assert "transformers.training_args" not in sys.modules


def test_only_classes_of_the_list_and_only_themselves(libraries, monkeypatch):
    assert plain_data.class_named("transformers.training_args.Other") is None
    assert plain_data.name_of(dict) is None
    false = type("Data", (), {"__module__": "torch_geometric.data.data"})
    assert plain_data.name_of(false) is None
    monkeypatch.setattr(sys.modules["torch_geometric.data.data"], "Data", "no class")
    assert plain_data.class_named("torch_geometric.data.data.Data") is None


class IterableSimpleNamespace(types.SimpleNamespace):
    def __init__(self, **values):
        raise RuntimeError("code of the class runs")


def test_namespace_of_a_library_is_its_fields(monkeypatch):
    place = "ultralytics.utils"
    module = types.ModuleType(place)
    monkeypatch.setattr(IterableSimpleNamespace, "__module__", place)
    module.IterableSimpleNamespace = IterableSimpleNamespace
    monkeypatch.setitem(sys.modules, place, module)
    value = types.SimpleNamespace.__new__(IterableSimpleNamespace)
    value.__dict__.update(epochs=3, weight=taeda.ones(2))
    for words in ({}, {"format": "safetensors"}):
        file = io.BytesIO()
        taeda.save({"args": value}, file, **words)
        file.seek(0)
        found = taeda.load(file)["args"]
        assert type(found) is IterableSimpleNamespace
        assert (found.epochs, found.weight.tolist()) == (3, [1, 1])


def test_models_of_a_library_are_written_and_its_other_classes_are_not(monkeypatch):
    nn = pytest.importorskip("taeda.nn")

    class Detect(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(2, 1)

    class Backend:
        pass

    place = "ultralytics.nn.tasks"
    module = types.ModuleType(place)
    for kind in (Detect, Backend):  # classes of this test alone
        kind.__module__, kind.__qualname__ = place, kind.__name__
        setattr(module, kind.__name__, kind)
    model = Detect()
    monkeypatch.setitem(sys.modules, place, module)
    file = io.BytesIO()
    taeda.save({"model": model}, file)
    with pytest.raises(taeda.serialization.FormatError, match="weights_only=False"):
        taeda.load(io.BytesIO(file.getvalue()))
    with pytest.warns(UserWarning, match="that you trust only"):
        found = taeda.load(io.BytesIO(file.getvalue()), weights_only=False)["model"]
    assert type(found) is Detect
    assert taeda.equal(found.head.weight, model.head.weight)
    assert plain_data.class_named(f"{place}.Backend") is None
    with pytest.raises(TypeError, match="Backend"):
        taeda.save({"model": Backend()}, io.BytesIO())


@pytest.fixture
def batches(libraries, monkeypatch):
    """A class that makes a class at its first call, as the library has it."""
    module = types.ModuleType("torch_geometric.data.batch")

    class Batch:
        def __new__(cls, _base_cls):
            if cls is not Batch:
                return object.__new__(cls)
            name = f"{_base_cls.__name__}Batch"
            if name not in vars(module):
                made = type(name, (_base_cls,), {"__module__": "abc"})
                setattr(module, name, made)
            return vars(module)[name]()

    module.Batch = Batch
    over = types.ModuleType("torch_geometric.data")
    over.Data = Data
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, over.__name__, over)
    return module


@pytest.mark.parametrize("form", ["safetensors", "pt"])
def test_batches_of_graphs_come_back(batches, form):
    given = batches.Batch(_base_cls=Data)
    given._store._mapping["x"] = taeda.ones(2)
    kind = type(given)
    file = back({"b": given}, form)
    del batches.DataBatch  # as in a program that has made none yet
    found = taeda.load(file)["b"]
    assert type(found) is batches.DataBatch is not kind
    store = object.__getattribute__(found, "_store")
    own = object.__getattribute__(store, "__dict__")
    assert own["_mapping"]["x"].tolist() == [1, 1] and own["_parent"]() is found


def test_batches_are_unknown_before_the_import():
    assert plain_data.class_named("torch_geometric.data.batch.DataBatch") is None
    assert plain_data.class_named("torch_geometric.data.batch.DynamicInheritanceGetter") is None
