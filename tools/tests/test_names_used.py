"""Which names a source uses, however it calls them, and that reasons begin with names."""

from by_path import load

tool = load("tools/try/names_used.py")

SOURCE = """
import torch
import torch.nn as nn
from torch import optim
from torch.nn import functional as F
from torch.utils.data import *
def f(x):
    torch.add(x, 1).sum()
    nn.Linear(1, 1)
    F.relu(x)
    optim.SGD.step
    own.torch.add
"""


def test_names_are_found_through_their_imports():
    assert tool.paths_of(SOURCE) == {
        "torch", "torch.nn", "torch.optim", "torch.nn.functional", "torch.utils.data", "torch.add",
        "torch.nn.Linear", "torch.nn.functional.relu", "torch.optim.SGD.step",
    }  # fmt: skip
    assert tool.paths_of("no python at all (") == set()


def test_each_name_has_one_reason():
    known = tool.reasons()
    assert all(path.startswith("torch.") and why for path, why in known)
    assert len({path for path, _ in known}) == len(known)
    assert tool.reason_for("torch._inductor.config.x", known).startswith("taeda compiles")
    assert not tool.reason_for("torch._inductors", known)
