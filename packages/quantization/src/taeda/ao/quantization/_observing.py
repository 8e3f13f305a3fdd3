"""A model whose layers are observed: who is quantized how, and what sees the results of each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from taeda import nn
from taeda._core_api import warn

from ..nn import quantizable as nnqz
from ..nn import quantized as nnq
from ..nn.intrinsic import _FusedModule
from .quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS,
    get_default_qconfig_propagation_list,
)
from .stubs import DeQuantStub, QuantWrapper

__all__ = [
    "add_quant_dequant",
    "get_default_custom_config_dict",
    "prepare",
    "propagate_qconfig_",
]

OBSERVED, QUANTIZED = (
    "float_to_observed_custom_module_class",
    "observed_to_quantized_custom_module_class",
)


def get_default_custom_config_dict() -> dict[str, dict[Any, Any]]:
    """Layers that are observed and converted by classes of their own.

    >>> table = get_default_custom_config_dict()
    >>> table["float_to_observed_custom_module_class"][nn.LSTM]
    <class 'taeda.ao.nn.quantizable.LSTM'>
    """
    return {
        OBSERVED: {nn.LSTM: nnqz.LSTM, nn.MultiheadAttention: nnqz.MultiheadAttention},
        QUANTIZED: {
            nnqz.LSTM: nnq.LSTM,
            nnqz.MultiheadAttention: nnq.MultiheadAttention,
        },
    }


# ---- who is quantized how ----


def propagate_qconfig_(
    module: nn.Module,
    qconfig_dict: dict[Any, Any] | None = None,
    prepare_custom_config_dict: Any = None,
) -> None:
    """Give each module inside a model its `qconfig`: its own, else that of its name, of its type, or of the
    module around it.

    Args:
        module: the model.
        qconfig_dict: `QConfig`s, or None, by names and types.
        prepare_custom_config_dict: lists of modules that are left out, under
            "non_traceable_module_name" and "non_traceable_module_class" (default: None).

    Raises:
        RuntimeError: a `qconfig` is none, or a name is none of a module.

    >>> from taeda.ao.quantization import default_qconfig
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> propagate_qconfig_(model, {"1": default_qconfig})
    >>> [layer.qconfig is default_qconfig for layer in model]
    [False, True]
    """
    table = qconfig_dict or {}
    names = {name for name, _ in module.named_modules()}
    unknown = [key for key in table if isinstance(key, str) and key not in names]
    if unknown:
        raise RuntimeError(f"the model has no modules of the names {sorted(unknown)}")
    custom = prepare_custom_config_dict or {}
    _propagate(module, table, None, "", custom)


def _propagate(
    module: nn.Module, table: dict[Any, Any], above: Any, name: str, custom: dict[str, Any]
) -> None:
    how = table.get(name, table.get(type(module), above))
    how = getattr(module, "qconfig", how)
    if how is not None and not (hasattr(how, "activation") and hasattr(how, "weight")):
        raise RuntimeError(f"the qconfig of {name or 'the model'!r} is a {type(how).__name__}")
    module.qconfig = how
    for last, child in module.named_children():
        left_out = last in custom.get("non_traceable_module_name", ())
        if not left_out and type(child) not in custom.get("non_traceable_module_class", ()):
            _propagate(child, table, how, f"{name}.{last}" if name else last, custom)


# ---- observers ----


def observe_result(module: Any, inputs: Any, result: Any) -> Any:
    """A forward hook: the observer sees the result."""
    return module.activation_post_process(result)


def observe_input(module: Any, inputs: Any) -> Any:
    """A hook before forward: the observer sees the first input."""
    return module.activation_post_process(inputs[0])


def wants(module: nn.Module) -> bool:
    """Whether a module has a `qconfig`."""
    return getattr(module, "qconfig", None) is not None


def _insert(module: nn.Module, special: Callable[[], nn.Module] | None = None) -> None:
    """An observer of the module's results, or of inputs that keep no scale."""
    if not wants(module) or isinstance(module, DeQuantStub):
        return
    how: Any = module.qconfig
    watch = how.activation() if special is None else special()
    module.add_module("activation_post_process", watch)
    if _keeps_nothing(how):
        module.register_forward_pre_hook(observe_input, prepend=True)
    else:
        module.register_forward_hook(observe_result, prepend=True)


def _keeps_nothing(how: Any) -> bool:
    """Whether inputs are observed, as each gets a scale of its own."""
    watch = how.activation()
    inner = getattr(watch, "activation_post_process", watch)
    return bool(getattr(inner, "is_dynamic", False))


def _special(module: nn.Module) -> Any:
    """What knows the ends of results, for modules where they are known."""
    if not module.training:
        known = DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(type(module))
        return None if known is None else known.p.keywords["observer"]
    return DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(type(module))


def _add_observers(
    module: nn.Module, leaves: set[Any], others: set[Any], custom: dict[Any, Any]
) -> None:
    for name, child in list(module.named_children()):
        kind = type(child)
        if kind is nn.Dropout:
            continue
        if isinstance(child, (nnq.FloatFunctional, nnq.QFunctional)):
            if wants(child):
                how: Any = child.qconfig
                child.activation_post_process = how.activation()
        elif isinstance(child, _FusedModule) or kind in others:
            _insert(child)
        elif kind in DEFAULT_MODULE_TO_ACT_POST_PROCESS:
            _insert(child, _special(child))
        elif wants(child) and kind in custom:
            module._modules[name] = custom[kind].from_float(child)
        else:
            _add_observers(child, leaves, others, custom)
    is_leaf = not list(module.children())
    if is_leaf and not isinstance(module, nn.Sequential) and type(module) in leaves:
        _insert(module)


def prepare(
    model: nn.Module,
    inplace: bool = False,
    allow_list: Iterable[Any] | None = None,
    observer_non_leaf_module_list: Iterable[Any] | None = None,
    prepare_custom_config_dict: Any = None,
) -> Any:
    """A model with observers: run it on examples, then `convert` it.

    Args:
        model: whose layers have a `qconfig`, or lie in a module that has one.
        inplace: whether the model itself is changed (default: False).
        allow_list: the classes that are observed, if not those that can be converted (default:
            None).
        observer_non_leaf_module_list: classes of modules with children that are observed as a
            whole (default: None).
        prepare_custom_config_dict: classes under "float_to_observed_custom_module_class" whose
            `from_float` makes the observed layer (default: None).

    RuntimeError for a `qconfig` that is none.

    >>> from taeda import nn
    >>> from taeda.ao.quantization import DeQuantStub, QuantStub, convert, default_qconfig
    >>> model = nn.Sequential(QuantStub(), nn.Linear(2, 1), DeQuantStub())
    >>> model.qconfig = default_qconfig
    >>> ready = prepare(model.eval())
    >>> _ = ready(taeda.ones(3, 2))
    >>> [type(layer).__name__ for layer in convert(ready)]
    ['Quantize', 'Linear', 'DeQuantize']
    """
    custom = prepare_custom_config_dict
    if custom is None:
        custom = get_default_custom_config_dict()
    if not inplace:
        model = copy.deepcopy(model)
    leaves = get_default_qconfig_propagation_list() if allow_list is None else set(allow_list)
    propagate_qconfig_(model)
    if not any(wants(module) for module in model.modules()):
        warn("no module has a qconfig: nothing will be quantized. Set model.qconfig first")
    if wants(model) and isinstance(model, _FusedModule):
        _insert(model)
        return model
    others = set(observer_non_leaf_module_list or ())
    _add_observers(model, leaves, others, custom.get(OBSERVED, {}))
    return model


def add_quant_dequant(module: nn.Module) -> nn.Module:
    """A model whose leaves with a `qconfig` lie between a `QuantStub` and a `DeQuantStub`; the model itself
    is changed.

    Args:
        module: the model.

    >>> from taeda.ao.quantization import default_qconfig
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> model[1].qconfig = default_qconfig
    >>> [type(layer).__name__ for layer in add_quant_dequant(model)]
    ['Linear', 'QuantWrapper']
    """
    if not list(module.children()) and wants(module):
        return QuantWrapper(module)
    for name, child in list(module.named_children()):
        module._modules[name] = add_quant_dequant(child)
    return module
