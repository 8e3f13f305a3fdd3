"""The toolkit's part of `python -m taeda`: a function in C++ is compiled and called, where there is
a compiler.
"""

from __future__ import annotations

import os
import tempfile

import taeda
from taeda._core_api.building import NotReady

from . import get_default_build_root, load_inline
from ._toolchain import cxx_compiler

__all__ = ["CHECKS", "FACTS"]

_SOURCE = """
taeda::Tensor doubled(taeda::Tensor x) { return taeda::call("add.Tensor", x, x); }
"""


def _extension() -> str:
    try:
        cxx_compiler()
    except NotReady:
        return "left out: there is no C++ compiler here, and nothing else needs one"
    with tempfile.TemporaryDirectory() as folder:
        module = load_inline("taeda_selftest", _SOURCE, functions="doubled", build_directory=folder)
        assert module.doubled(taeda.ones(3)).tolist() == [2.0] * 3
    return "compiled and called"


def _cache() -> str:
    root = os.environ.get("TAEDA_EXTENSIONS_DIR") or get_default_build_root()
    return root if os.path.isdir(root) else f"{root} (not made yet)"


CHECKS = {"extensions": _extension}
FACTS = {"cache of extensions": _cache}
