"""Modules with parameters, buffers, hooks and state dicts; layers, losses and initialisation.

>>> from taeda import nn
>>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
>>> model(taeda.zeros(3, 4)).shape
taeda.Size([3, 2])
"""

from __future__ import annotations

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # taeda-distributed brings `parallel`

from taeda._lazy import lazy_attributes

from . import attention, functional, init, modules, parameter, utils
from .modules import *  # noqa: F403 - the files of `modules` name what they give
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "init",
    "modules",
    "parameter",
    "utils",
]
__all__ += modules.__all__

# `nn.parallel` and the wrapper of the older kind come with taeda-distributed.
__getattr__, __dir__ = lazy_attributes(__name__, {"DataParallel": "nn.parallel"})
