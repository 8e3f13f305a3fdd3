"""The functions that stand in taeda itself."""

from __future__ import annotations

import subprocess
import sys

import taeda
from taeda.quantization import _public


def test_they_are_those_of_the_package():
    for name in _public.__all__:
        assert getattr(taeda, name) is getattr(_public, name)


def test_importing_taeda_brings_none_of_it():
    ours = "('taeda.quantization', 'taeda.ao')"
    code = f"import sys, taeda; assert not [m for m in sys.modules if m.startswith({ours})]"
    subprocess.run([sys.executable, "-c", code], check=True)
