"""Parts of `taeda.fx` that are there without an import of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "name", ["experimental.proxy_tensor.make_fx", "experimental.symbolic_shapes.ShapeEnv", "passes"]
)
def test_parts_are_loaded_when_they_are_asked_for(name):
    program = f"import taeda; print(taeda.fx.{name}.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith(name.rpartition(".")[2])
