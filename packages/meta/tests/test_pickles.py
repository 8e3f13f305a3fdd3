"""Pickles name public places, so that a private module can move and no file breaks."""

from __future__ import annotations

import importlib
import io
import pickle
import pkgutil

import pytest

import taeda
from taeda import nn
from taeda.nn.utils import prune

#: modules whose import asks for what a machine need not have, or says that they are old
APART = ("taeda.utils.cpp_extension", "taeda.utils.tensorboard", "taeda.__main__")
#: the operators of nn that no function of nn.functional is, where the field's programs look for them
KNOWN = {"taeda._C._nn"}


def public_modules():
    """The names of the modules of all packages without a private part."""
    yield "taeda"
    waiting = ["taeda"]
    while waiting:
        package = importlib.import_module(waiting.pop())
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if "._" in found.name or found.name.endswith("__main__") or found.name in APART:
                continue
            yield found.name
            if found.ispkg:
                waiting.append(found.name)


class Noting(pickle.Unpickler):
    """Reads a pickle and keeps the modules that it names."""

    def __init__(self, value):
        super().__init__(io.BytesIO(pickle.dumps(value)))
        self.modules = set()

    def find_class(self, module, name):
        self.modules.add(module)
        return super().find_class(module, name)


def private_places(value):
    reader = Noting(value)
    reader.load()
    return sorted(m for m in reader.modules - KNOWN if m.startswith("taeda") and "._" in m)


def test_functions_and_classes_of_public_modules_are_pickled_by_a_public_name():
    wrong, count = [], 0
    for name in public_modules():
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", dir(module)):
            value = getattr(module, public, None)
            if public.startswith("_") or not callable(value) or not hasattr(value, "__qualname__"):
                continue
            if not (getattr(value, "__module__", None) or "").startswith("taeda"):
                continue
            if not hasattr(module, "__all__") and "._" in value.__module__:
                continue  # imported for its own use
            try:
                found = private_places(value)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                found = [str(error)]
            count += 1
            wrong += [f"{name}.{public}: {found}"] if found else []
    assert not wrong, "\n".join(wrong)
    assert count > 2000


def hooked():
    module = nn.Linear(1, 1)
    module.register_forward_hook(print)
    module.register_forward_pre_hook(print)
    return module


VALUES = {
    "a tensor": lambda: taeda.ones(2),
    "a meta tensor": lambda: taeda.ones(2, device="meta"),
    "a parameter": lambda: nn.Parameter(taeda.ones(2)),
    "a storage": lambda: taeda.ones(2).untyped_storage(),
    "a typed storage": lambda: taeda.TypedStorage([1.0, 2.0]),
    "a module with hooks": hooked,
    "a lazy module": lambda: nn.LazyLinear(2),
    "a pruned module": lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", 0.5),
    "a layer with a function": lambda: nn.TransformerEncoderLayer(
        4, 2, activation=nn.functional.gelu
    ),
    "an optimizer": lambda: taeda.optim.Adam(nn.Linear(1, 1).parameters()),
    "an operator": lambda: taeda.ops.aten.add,
    "an overload": lambda: taeda.ops.aten.add.Tensor,
    "a distribution": lambda: taeda.distributions.Normal(0.0, 1.0),
    "a program": lambda: taeda.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())),
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
@pytest.mark.filterwarnings("ignore")
def test_what_is_saved_is_made_by_public_names(make):
    assert private_places(make()) == []
