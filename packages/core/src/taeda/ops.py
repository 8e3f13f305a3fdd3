"""Operators by namespace: `taeda.ops.aten.add.Tensor`, `taeda.ops.mylib.scale`; and libraries that
bring new ones.

>>> import taeda
>>> taeda.ops.aten.relu(taeda.tensor([-1.0, 2.0]))
tensor([0., 2.])
>>> taeda.ops.aten.add.Tensor._schema
aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from taeda._library.operators import Namespace, namespace
from taeda._native import core as _core
from taeda._neighbours.compiled import brought

__all__ = ["load_library", "loaded_libraries"]

#: absolute paths of the libraries loaded so far
loaded_libraries: set[str] = set()
# who wants a library that another thread loads waits, and finds it loaded
_loading = threading.RLock()


def load_library(path: str | os.PathLike[str]) -> None:
    """Load a shared library that was built against `taeda/abi.h`, and enter its operators into the op table.

    Its operators appear under `taeda.ops.<namespace>`. A kernel that is offered by name alone,
    without a schema (ABI 1.0), becomes an operator of Tensors in the namespace that the file's name
    gives: `scale.so` with the kernel "twice" gives `taeda.ops.scale.twice`. A library that was
    loaded already is not loaded again. The compiled part of torchvision is not loaded at all:
    `taeda.vision_ops` brings its operators.

    Raises ImportError, which says why: the file is missing, empty or no shared library; it is no
    extension of taeda; it needs another major or a later minor version of the ABI than
    `taeda/abi.h` of this core has; it refused to start.

    >>> taeda.ops.load_library("nowhere.so")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ImportError: cannot open the extension: ...nowhere.so: ...
    """
    full = str(Path(path).resolve())
    with _loading:
        if full in loaded_libraries:
            return
        if brought(Path(full)):
            loaded_libraries.add(full)
            return
        from taeda._library._results import finish

        kernels, _ = _core.load_extension(full)
        if kernels:
            from taeda._library._native import define_kernels

            define_kernels(Path(full).name.partition(".")[0], kernels)
        finish(full)
        loaded_libraries.add(full)


def __getattr__(name: str) -> Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = namespace(name)  # the next access finds it at once
    return found
