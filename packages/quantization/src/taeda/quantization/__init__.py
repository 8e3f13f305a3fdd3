"""Weights of 8 and 4 bits: a language model that generates tokens reads all its weights for each one.

>>> import taeda
>>> model = taeda.nn.Sequential(taeda.nn.Linear(256, 256), taeda.nn.ReLU(), taeda.nn.Linear(256, 8))
>>> report = taeda.quantization.quantize_(
...     model, taeda.quantization.int8_weight_only(), measure=False
... )
>>> [row.kind for row in report.rows]
['int8', 'int8']
"""

from . import _methods as _methods
from . import _operators as _operators
from . import _printing as _printing
from . import _saved as _saved
from . import rules as _rules
from ._cache import Int8Cache
from ._compare import Comparison, Difference, compare
from ._config import int4_weight_only, int8_weight_only
from ._gguf import gguf_state_dict
from ._load import load_quantized_
from ._make import quantize_per_channel, quantize_per_tensor, quantize_per_tensor_dynamic
from ._modules import Int4Embedding, Int4Linear, Int8Embedding, Int8Linear
from ._quantize import quantize_
from ._report import Report, Row
from ._sensitivity import Left, Sensitivity, sensitivity

_rules.load()

__all__ = [
    "Comparison", "Difference", "Int4Embedding", "Int4Linear", "Int8Cache", "Int8Embedding", "Int8Linear",
    "Left", "Report", "Row", "Sensitivity", "compare", "gguf_state_dict",
    "int4_weight_only", "int8_weight_only", "load_quantized_", "quantize_", "quantize_per_channel",
    "quantize_per_tensor", "quantize_per_tensor_dynamic", "sensitivity",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Old names of `taeda.ao.quantization`, which PyTorch had here first."""
    if not name.startswith("_"):
        from taeda.ao import quantization as eager  # late: it asks for the kernels here

        if name in vars(eager) or hasattr(eager, name):
            return getattr(eager, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
