"""Which layers are quantized how: by their names, their types, or all of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from taeda import nn

from .fake_quantize import FixedQParamsFakeQuantize, default_weight_fake_quant
from .observer import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from .qconfig import (
    QConfig,
    QConfigAny,
    default_reuse_input_qconfig,
    default_symmetric_qnnpack_qat_qconfig,
    default_symmetric_qnnpack_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

__all__ = [
    "QConfigMapping", "get_default_qat_qconfig_mapping", "get_default_qconfig_mapping",
    "get_symmetric_qnnpack_qat_qconfig_mapping", "get_symmetric_qnnpack_qconfig_mapping",
]  # fmt: skip

_GLOBAL, _TYPE, _REGEX, _NAME, _ORDER = (
    "", "object_type", "module_name_regex", "module_name", "module_name_object_type_order",
)  # fmt: skip


class QConfigMapping:
    """Which layers are quantized how. What is more special wins: order, name, pattern, type, all.

    Each `set_...` returns the mapping, so that calls can be chained. None in place of a `QConfig` leaves
    layers as they are.

    >>> from taeda import nn
    >>> from taeda.ao.quantization import default_qconfig
    >>> mapping = QConfigMapping().set_global(default_qconfig).set_object_type(nn.Linear, None)
    >>> mapping.object_type_qconfigs[nn.Linear] is None
    True
    """

    def __init__(self) -> None:
        self.global_qconfig: QConfigAny = None
        self.object_type_qconfigs: OrderedDict[Callable[..., Any] | str, QConfigAny] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[Any, QConfigAny] = OrderedDict()

    def set_global(self, global_qconfig: QConfigAny) -> QConfigMapping:
        """For all layers: `global_qconfig`."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(
        self, object_type: Callable[..., Any] | str, qconfig: QConfigAny
    ) -> QConfigMapping:
        """For modules of a type, calls of a function, or of a method by its name: `qconfig`."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: QConfigAny) -> QConfigMapping:
        """For modules whose name fits a regular expression: `qconfig`; the first that fits counts."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: QConfigAny) -> QConfigMapping:
        """For the module of this name, and those inside it: `qconfig`."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Callable[..., Any], index: int, qconfig: QConfigAny
    ) -> QConfigMapping:
        """For the call of number `index` of this type in the module of this name: `qconfig`."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def __repr__(self) -> str:
        lines = [
            f" {name}\n" + "".join(f"  {key}: {value}\n" for key, value in entries.items())
            for name, entries in self._tables().items()
        ]
        return (
            f"{type(self).__name__} (\n global_qconfig\n  {self.global_qconfig}\n{''.join(lines)})"
        )

    def _tables(self) -> dict[str, OrderedDict[Any, QConfigAny]]:
        words = (_TYPE, _REGEX, _NAME, _ORDER)
        return {f"{word}_qconfigs": getattr(self, f"{word}_qconfigs") for word in words}

    def to_dict(self) -> dict[str, Any]:
        """The mapping as a dict, which `from_dict` reads."""
        made: dict[str, Any] = {_GLOBAL: self.global_qconfig}
        for word in (_TYPE, _REGEX, _NAME, _ORDER):
            entries = getattr(self, f"{word}_qconfigs").items()
            made[word] = [((*k, q) if word == _ORDER else (k, q)) for k, q in entries]
        return made

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """The mapping of a dict: "" for all, and lists under "object_type", "module_name_regex",
        "module_name" and "module_name_object_type_order". ValueError for another key.
        """
        unknown = set(qconfig_dict) - {_GLOBAL, _TYPE, _REGEX, _NAME, _ORDER}
        if unknown:
            raise ValueError(f"a dict of qconfigs has no key {sorted(unknown)}")
        made = cls()
        if _GLOBAL in qconfig_dict:
            made.set_global(qconfig_dict[_GLOBAL])
        for word in (_TYPE, _REGEX, _NAME, _ORDER):
            for entry in qconfig_dict.get(word, ()):
                getattr(made, f"set_{word}")(*entry)
        return made


#: types, functions and methods whose results have known ends
_FIXED: dict[Any, Any] = {
    **dict.fromkeys(
        (nn.Hardsigmoid, nn.functional.hardsigmoid, "hardsigmoid", "hardsigmoid_", nn.Sigmoid, "sigmoid",
         "sigmoid_", nn.Softmax), default_fixed_qparams_range_0to1_observer,
    ),
    **dict.fromkeys((nn.Tanh, "tanh", "tanh_"), default_fixed_qparams_range_neg1to1_observer),
}  # fmt: skip


def _mapping(qconfig: QConfig, weight: Any, is_qat: bool) -> QConfigMapping:
    """All layers with `qconfig`; transposed convolutions with one scale for the weight; known ends."""
    one_scale = QConfig(qconfig.activation, weight)
    made = (
        QConfigMapping().set_global(qconfig).set_object_type("reshape", default_reuse_input_qconfig)
    )
    transposed: tuple[Any, ...] = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
    for kind in transposed:
        made.set_object_type(kind, one_scale)
    for kind, observer in _FIXED.items():
        how = FixedQParamsFakeQuantize.with_args(observer=observer) if is_qat else observer
        made.set_object_type(kind, QConfig(how, qconfig.weight))
    # their weights are kept as floats
    floats: tuple[Any, ...] = (nn.LayerNorm, nn.functional.layer_norm, nn.PReLU)
    for kind in floats:
        made.set_object_type(kind, QConfig(qconfig.activation, default_placeholder_observer))
    return made


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """All layers as `get_default_qconfig` says, those with known ends with theirs.

    Args:
        backend, version: as in `get_default_qconfig` (defaults: backend "x86", version 0).

    >>> mapping = taeda.ao.quantization.get_default_qconfig_mapping("x86")
    >>> mapping.global_qconfig is not None
    True
    """
    return _mapping(get_default_qconfig(backend, version), default_weight_observer, False)


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """All layers as `get_default_qat_qconfig` says, those with known ends with theirs.

    Args:
        backend, version: as in `get_default_qat_qconfig` (defaults: backend "x86", version 1).

    >>> mapping = taeda.ao.quantization.get_default_qat_qconfig_mapping("x86")
    >>> type(mapping.global_qconfig.weight()).__name__
    'FusedMovingAvgObsFakeQuantize'
    """
    return _mapping(get_default_qat_qconfig(backend, version), default_weight_fake_quant, True)


def get_symmetric_qnnpack_qconfig_mapping() -> QConfigMapping:
    """All layers with ranges as wide on both sides of 0, for XNNPACK.

    >>> mapping = taeda.ao.quantization.get_symmetric_qnnpack_qconfig_mapping()
    >>> mapping.global_qconfig.weight().qscheme
    taeda.per_tensor_symmetric
    """
    return _mapping(default_symmetric_qnnpack_qconfig, default_weight_observer, False)


def get_symmetric_qnnpack_qat_qconfig_mapping() -> QConfigMapping:
    """The same while training.

    >>> mapping = taeda.ao.quantization.get_symmetric_qnnpack_qat_qconfig_mapping()
    >>> type(mapping.global_qconfig.weight()).__name__
    'FusedMovingAvgObsFakeQuantize'
    """
    return _mapping(default_symmetric_qnnpack_qat_qconfig, default_weight_fake_quant, True)
