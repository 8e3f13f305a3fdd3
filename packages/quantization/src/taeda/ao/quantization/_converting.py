"""Layers that were observed, as layers that compute on integers."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from taeda import nn

from ..nn import quantized as nnq
from ..nn._weights import unseen
from ..nn.intrinsic import _FusedModule
from ._observing import (
    QUANTIZED,
    get_default_custom_config_dict,
    observe_input,
    observe_result,
    wants,
)
from ._ranges import NoRange
from .quantization_mappings import get_default_static_quant_module_mappings

__all__ = ["convert", "swap_module"]


def _forget(module: nn.Module) -> None:
    """Take qconfigs and observers out."""
    for child in module.children():
        _forget(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    if isinstance(module, nnq.QFunctional):
        return
    if "activation_post_process" in module._modules:
        del module.activation_post_process
    for table, hook in (
        (module._forward_hooks, observe_result),
        (module._forward_pre_hooks, observe_input),
    ):
        for key in [key for key, value in table.items() if value is hook]:
            del table[key]


def convert(
    module: nn.Module,
    mapping: dict[Any, Any] | None = None,
    inplace: bool = False,
    remove_qconfig: bool = True,
    is_reference: bool = False,
    convert_custom_config_dict: Any = None,
    use_precomputed_fake_quant: bool = False,
) -> Any:
    """A model whose observed layers compute on integers.

    Args:
        module: a prepared model that has seen examples.
        mapping: classes of layers by what becomes of them, if not
            `get_default_static_quant_module_mappings()` (default: None).
        inplace: whether the model itself is changed (default: False).
        remove_qconfig: whether qconfigs and observers go (default: True).
        is_reference: NotImplementedError if True: reference layers, which compute in float, are
            part of FX quantization (default: False).
        convert_custom_config_dict: classes under "observed_to_quantized_custom_module_class"
            whose `from_observed` makes the layer (default: None).
        use_precomputed_fake_quant: handed on to `from_float` (default: False).

    RuntimeError, with the layer's name, if an observer saw nothing, or NaN or infinity.

    >>> from taeda.ao import quantization
    >>> model = quantization.QuantWrapper(taeda.nn.Linear(2, 1)).eval()
    >>> model.qconfig = quantization.get_default_qconfig("x86")
    >>> prepared = quantization.prepare(model)
    >>> _ = prepared(taeda.rand(8, 2))
    >>> quantization.convert(prepared).module._get_name()
    'QuantizedLinear'
    """
    if is_reference:
        raise NotImplementedError(
            "convert(is_reference=True) makes layers for FX quantization, which is not here yet"
        )
    if not inplace:
        module = copy.deepcopy(module)
    if mapping is None:
        mapping = get_default_static_quant_module_mappings()
    custom = convert_custom_config_dict
    if custom is None:
        custom = get_default_custom_config_dict()
    _convert(module, mapping, custom.get(QUANTIZED, {}), use_precomputed_fake_quant, "")
    if remove_qconfig:
        _forget(module)
    return module


def _convert(
    module: nn.Module, mapping: dict[Any, Any], custom: dict[Any, Any], precomputed: bool, path: str
) -> None:
    for name, child in list(module.named_children()):
        full = f"{path}.{name}" if path else name
        if not isinstance(child, _FusedModule) and type(child) not in custom:
            _convert(child, mapping, custom, precomputed, full)
        if (
            type(child) in mapping
            and wants(child)
            and _needs_scale(mapping[type(child)])
            and unseen(child)
        ):
            raise RuntimeError(
                f"convert: the observer of {full!r} ({type(child).__name__}) saw nothing, so its results "
                "have no scale: run the prepared model on examples first, or set the layer's qconfig to None"
            )
        try:
            module._modules[name] = swap_module(child, mapping, custom, precomputed)
        except NoRange as error:
            kind = type(child).__name__
            raise RuntimeError(f"convert: {full!r} ({kind}) has no scale: {error}") from error


def _needs_scale(kind: Any) -> bool:
    """Whether a layer of this class has a scale of results: not those whose results are floats."""
    return not issubclass(kind, (nnq.Embedding, nnq.DeQuantize, nnq.Dropout, nnq.ReLU6))


def swap_module(
    mod: nn.Module,
    mapping: dict[Any, Any],
    custom_module_class_mapping: dict[Any, Any],
    use_precomputed_fake_quant: bool = False,
) -> nn.Module:
    """What becomes of a module with a `qconfig`: itself if there is nothing.

    Args:
        mod: the module.
        mapping: classes by classes with `from_float`.
        custom_module_class_mapping: classes by classes with `from_observed`.
        use_precomputed_fake_quant: handed on to `from_float` (default: False).

    Hooks of the module go over, but for observers.

    >>> from taeda.ao import quantization
    >>> model = nn.Sequential(nn.Linear(2, 1)).eval()
    >>> model.qconfig = quantization.default_dynamic_qconfig
    >>> quantization.propagate_qconfig_(model)
    >>> table = quantization.get_default_dynamic_quant_module_mappings()
    >>> swap_module(model[0], table, {})._get_name()
    'DynamicQuantizedLinear'
    """
    kind = type(mod)
    if not wants(mod) or (kind not in mapping and kind not in custom_module_class_mapping):
        return mod
    made: nn.Module
    if kind in custom_module_class_mapping:
        made = custom_module_class_mapping[kind].from_observed(mod)
    else:
        make = mapping[kind].from_float
        known = "use_precomputed_fake_quant" in inspect.signature(make).parameters
        more = {"use_precomputed_fake_quant": use_precomputed_fake_quant} if known else {}
        made = make(mod, **more)
    if made is mod:
        return mod
    for before in mod._forward_pre_hooks.values():
        if before is not observe_input:
            made.register_forward_pre_hook(before)
    for after in mod._forward_hooks.values():
        if after is not observe_result:
            made.register_forward_hook(after)
    return made
