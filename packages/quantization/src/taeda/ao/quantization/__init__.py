"""Quantize a model layer by layer (eager mode): stubs and joined layers, observers, `prepare`, `convert`,
training for integers, and weights in integers alone (`quantize_dynamic`).

>>> import taeda
>>> from taeda import nn
>>> model = QuantWrapper(nn.Linear(4, 2)).eval()
>>> model.qconfig = get_default_qconfig("x86")
>>> ready = prepare(model)
>>> _ = ready(taeda.randn(16, 4))
>>> type(convert(ready).module).__name__
'Linear'
"""

from . import backend_config
from .fake_quantize import *  # noqa: F403 - __all__ of those
from .fuse_modules import fuse_modules, fuse_modules_qat
from .fuser_method_mappings import get_fuser_method
from .observer import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .qconfig_mapping import *  # noqa: F403
from .quantization_mappings import *  # noqa: F403
from .quantize import *  # noqa: F403
from .stubs import DeQuantStub, QuantStub, QuantWrapper
