"""Names that PyTorch has and taeda has not say so, and none of them exists."""

import importlib
import importlib.util
import subprocess
import sys

import pytest
from by_path import load

import taeda
from taeda._torch_names.absent import message, table

tool = load("tools/hold/absent.py")


def test_every_name_listed_is_absent():
    text = tool.FILE.read_text()
    assert tool.present(text) == [], "these exist by now: run python tools/hold/absent.py"
    assert len(table()) > 20


def test_places_are_modules_of_ours():
    parts = {name.rpartition(".")[0] for name in table()}
    assert all(part.partition(".")[0] == "taeda" for part in parts)


@pytest.mark.parametrize(("place", "name"),
    [("taeda", "package"), ("taeda.cuda", "MemPoolContext"),
        ("taeda.utils", "mobile_optimizer")])  # fmt: skip
def test_asking_for_one_says_what_to_do(place, name):
    module = importlib.import_module(place)
    full = f"{place}.{name}"
    assert full in table(), "it exists by now: take another"
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=f"{full} does not exist, though PyTorch has it"):
        getattr(module, name)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(full)
    assert importlib.util.find_spec(full) is None if hasattr(module, "__path__") else True


def test_importing_one_says_what_to_do():
    said = message("taeda.package")
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("taeda.package")
    assert str(caught.value) == said
    with pytest.raises(ImportError) as caught:
        exec("from taeda import package")
    assert str(caught.value) == said


def test_other_names_are_plain_misses():
    for module in (taeda, taeda.linalg, taeda.utils):
        with pytest.raises(
            AttributeError, match=f"module '{module.__name__}' has no attribute 'frobnicate'"
        ):
            _ = module.frobnicate
        assert not hasattr(module, "__wrapped__")


def test_the_list_is_read_at_the_first_miss_only():
    code = (
        "import sys, taeda, taeda.linalg; assert 'taeda._torch_names.absent' not in sys.modules; "
        "hasattr(taeda, 'x'); assert 'taeda._torch_names.absent' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_tool_takes_out_what_exists():
    text = "One.\n    taeda: ones gone\nTwo.\n    taeda: zeros\n"
    assert tool.present(text) == ["taeda.ones", "taeda.zeros"]
    assert tool.without(text, {"taeda.ones", "taeda.zeros"}) == "One.\n    taeda: gone\n"


def test_no_attribute_of_tensors_is_absent():
    assert not [full for full in table() if full.startswith("taeda.Tensor.")]


def test_subclasses_may_have_them():
    class Sparse(taeda.Tensor):
        def row_indices(self):
            return "mine"

    x = taeda.ones(2).as_subclass(Sparse)
    assert x.row_indices() == "mine" and "row_indices" in dir(x)
