from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[4] / "examples"


def _load(name: str):
    """A program of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def resnet():
    return _load("resnet18")


@pytest.fixture(scope="session")
def gpt():
    return _load("char_gpt")
