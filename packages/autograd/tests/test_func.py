"""Transforms: values against closed forms, nesting in every order, graphs of callers, refusals."""

from __future__ import annotations

import subprocess
import sys

# ---- one transform ----


# ---- nesting ----


# ---- graphs of the callers ----


# ---- modules ----


# ---- refusals ----


def test_importing_taeda_does_not_load_it():
    code = "import sys, taeda; assert 'taeda.func' not in sys.modules; taeda.func.grad"
    subprocess.run([sys.executable, "-c", code], check=True)
