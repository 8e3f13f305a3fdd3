"""Modules with parameters, buffers, hooks and state dicts; layers, losses and initialisation.

>>> from taeda import nn
>>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
>>> model(taeda.zeros(3, 4)).shape
taeda.Size([3, 2])
"""

from __future__ import annotations

from pkgutil import extend_path
from typing import TYPE_CHECKING

__path__ = extend_path(__path__, __name__)  # others bring `parallel`, `quantized`

from taeda._core_api import lazy_attributes

from . import attention as attention
from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import parameter as parameter
from . import utils as utils
from ._summary import summary as summary
from .modules import *  # noqa: F403 - the files of `modules` name what they give
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

# A type checker takes what the imports bring: it reads no list that is put together, and would take
# every name for Any.
if not TYPE_CHECKING:
    __all__ = [
        "attention",
        "functional",
        "grad",
        "init",
        "modules",
        "parameter",
        "summary",
        "utils",
    ]
    __all__ += ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
    __all__ += modules.__all__
    # `nn.parallel` and the wrapper of the older kind come with taeda-distributed
    __getattr__, __dir__ = lazy_attributes(__name__, {"DataParallel": "nn.parallel"})
