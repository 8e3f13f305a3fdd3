"""From a float model to one on integers: observe, then convert layer by layer."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import warn

from ..nn import quantizable as nnqz
from ..nn import quantized as nnq
from ..nn._weights import unseen
from ..nn.intrinsic import _FusedModule
from . import qconfig as _q
from .quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
)
from .stubs import DeQuantStub, QuantWrapper

__all__ = [
    "add_quant_dequant", "convert", "default_eval_fn", "get_default_custom_config_dict", "prepare",
    "prepare_qat", "propagate_qconfig_", "quantize", "quantize_dynamic", "quantize_qat", "swap_module",
]  # fmt: skip

_OBSERVED, _QUANTIZED = (
    "float_to_observed_custom_module_class",
    "observed_to_quantized_custom_module_class",
)


def get_default_custom_config_dict() -> dict[str, dict[Any, Any]]:
    """Layers that are observed and converted by classes of their own."""
    return {
        _OBSERVED: {nn.LSTM: nnqz.LSTM, nn.MultiheadAttention: nnqz.MultiheadAttention},
        _QUANTIZED: {
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
            "non_traceable_module_name" and "non_traceable_module_class".

    RuntimeError for a `qconfig` that is none, and for a name that is none of a module.
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


def _observe_result(module: Any, inputs: Any, result: Any) -> Any:
    return module.activation_post_process(result)


def _observe_input(module: Any, inputs: Any) -> Any:
    return module.activation_post_process(inputs[0])


def _wants(module: nn.Module) -> bool:
    return getattr(module, "qconfig", None) is not None


def _insert(module: nn.Module, special: Callable[[], nn.Module] | None = None) -> None:
    """An observer of the module's results, or of inputs that keep no scale."""
    if not _wants(module) or isinstance(module, DeQuantStub):
        return
    how: Any = module.qconfig
    watch = how.activation() if special is None else special()
    module.add_module("activation_post_process", watch)
    if _keeps_nothing(how):
        module.register_forward_pre_hook(_observe_input, prepend=True)
    else:
        module.register_forward_hook(_observe_result, prepend=True)


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
            if _wants(child):
                how: Any = child.qconfig
                child.activation_post_process = how.activation()
        elif isinstance(child, _FusedModule) or kind in others:
            _insert(child)
        elif kind in DEFAULT_MODULE_TO_ACT_POST_PROCESS:
            _insert(child, _special(child))
        elif _wants(child) and kind in custom:
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
        inplace: whether the model itself is changed.
        allow_list: the classes that are observed, if not those that can be converted.
        observer_non_leaf_module_list: classes of modules with children that are observed as a
            whole.
        prepare_custom_config_dict: classes under "float_to_observed_custom_module_class" whose
            `from_float` makes the observed layer.

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
    if not any(_wants(module) for module in model.modules()):
        warn("no module has a qconfig: nothing will be quantized. Set model.qconfig first")
    if _wants(model) and isinstance(model, _FusedModule):
        _insert(model)
        return model
    others = set(observer_non_leaf_module_list or ())
    _add_observers(model, leaves, others, custom.get(_OBSERVED, {}))
    return model


def add_quant_dequant(module: nn.Module) -> nn.Module:
    """A model whose leaves with a `qconfig` lie between a `QuantStub` and a `DeQuantStub`; the model itself
    is changed.

    Args:
        module: the model.
    """
    if not list(module.children()) and _wants(module):
        return QuantWrapper(module)
    for name, child in list(module.named_children()):
        module._modules[name] = add_quant_dequant(child)
    return module


# ---- converting ----


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
        (module._forward_hooks, _observe_result),
        (module._forward_pre_hooks, _observe_input),
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
            `get_default_static_quant_module_mappings()`.
        inplace: whether the model itself is changed.
        remove_qconfig: whether qconfigs and observers go.
        is_reference: NotImplementedError if True: reference layers, which compute in float, are
            part of FX quantization.
        convert_custom_config_dict: classes under "observed_to_quantized_custom_module_class" whose
            `from_observed` makes the layer.
        use_precomputed_fake_quant: handed on to `from_float`.

    RuntimeError, with the layer's name, if an observer saw nothing.

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
    _convert(module, mapping, custom.get(_QUANTIZED, {}), use_precomputed_fake_quant, "")
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
            and _wants(child)
            and _needs_scale(mapping[type(child)])
            and unseen(child)
        ):
            raise RuntimeError(
                f"convert: the observer of {full!r} ({type(child).__name__}) saw nothing, so its results "
                "have no scale: run the prepared model on examples first, or set the layer's qconfig to None"
            )
        module._modules[name] = swap_module(child, mapping, custom, precomputed)


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
        use_precomputed_fake_quant: handed on to `from_float`.

    Hooks of the module go over, but for observers.
    """
    kind = type(mod)
    if not _wants(mod) or (kind not in mapping and kind not in custom_module_class_mapping):
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
        if before is not _observe_input:
            made.register_forward_pre_hook(before)
    for after in mod._forward_hooks.values():
        if after is not _observe_result:
            made.register_forward_hook(after)
    return made


# ---- all in one ----


def default_eval_fn(
    model: Callable[[Tensor], Any], calib_data: Iterable[tuple[Tensor, Any]]
) -> None:
    """Run a model on examples.

    Args:
        model: what is called.
        calib_data: pairs (input, target), of which targets are left alone.
    """
    for data, _ in calib_data:
        model(data)


def quantize(
    model: nn.Module,
    run_fn: Callable[..., Any],
    run_args: Any,
    mapping: dict[Any, Any] | None = None,
    inplace: bool = False,
) -> Any:
    """A model on integers: `prepare`, examples, `convert`.

    Args:
        model: as in `prepare`; it goes to eval mode.
        run_fn: called with the prepared model and `run_args`, to run it on examples.
        run_args: more arguments.
        mapping, inplace: as in `convert`.

    >>> model = QuantWrapper(nn.Linear(2, 1))
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> whole = quantize(model, lambda ready, x: ready(x), [taeda.ones(4, 2)])
    >>> whole.module.weight().dtype
    taeda.qint8
    """
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    ready = prepare(model, inplace=True)
    run_fn(ready, *run_args)
    return convert(ready, mapping, inplace=True)


def quantize_dynamic(
    model: nn.Module,
    qconfig_spec: Any = None,
    dtype: Any = taeda.qint8,
    mapping: dict[Any, Any] | None = None,
    inplace: bool = False,
) -> Any:
    """A model whose weights are integers and whose numbers between layers are floats; no examples are needed.

    Args:
        model: the float model; it goes to eval mode.
        qconfig_spec: `QConfig`s by types and names of layers, or a set of types and names; without
            it linear and recurrent layers, or of `quint8` and `quint4x2` embeddings.
        dtype: of weights: `qint8`, `float16`, `quint8` or `quint4x2`.
        mapping: classes of layers by what becomes of them, if not
            `get_default_dynamic_quant_module_mappings()`.
        inplace: whether the model itself is changed.

    ValueError or RuntimeError for another dtype, RuntimeError for a name that is none.

    >>> import taeda
    >>> from taeda import nn
    >>> small = quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear})
    >>> small[0].weight().dtype
    taeda.qint8
    """
    if qconfig_spec is None or isinstance(qconfig_spec, (set, frozenset)):
        qconfig_spec = _spec(qconfig_spec, dtype)
    if mapping is None:
        mapping = get_default_dynamic_quant_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    return convert(model, mapping, inplace=True)


def _spec(chosen: Any, dtype: Any) -> dict[Any, Any]:
    layers = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
    known: dict[Any, tuple[Any, Any]] = {
        taeda.qint8: (_q.default_dynamic_qconfig, layers),
        taeda.float16: (_q.float16_dynamic_qconfig, layers),
        taeda.quint8: (_q.float_qparams_weight_only_qconfig, (nn.EmbeddingBag, nn.Embedding)),
        taeda.quint4x2: (_q.float_qparams_weight_only_qconfig_4bit, (nn.EmbeddingBag,)),
    }  # fmt: skip
    if dtype not in known:
        kind = ValueError if chosen is None else RuntimeError
        raise kind(
            f"quantize_dynamic knows weights in qint8, float16, quint8 and quint4x2, but got {dtype}: give "
            "QConfigs in qconfig_spec"
        )
    how, default = known[dtype]
    return dict.fromkeys(default if chosen is None else chosen, how)


def prepare_qat(
    model: nn.Module, mapping: dict[Any, Any] | None = None, inplace: bool = False
) -> Any:
    """A model that is trained for integers: train it, then `convert` it in eval mode.

    Args:
        model: in train mode, whose layers have a `qconfig`, or lie in a module that has one.
        mapping: classes of layers by those that are trained for integers, if not
            `get_default_qat_module_mappings()`.
        inplace: whether the model itself is changed.

    AssertionError in eval mode.

    >>> model = nn.Sequential(nn.Linear(2, 1))
    >>> model.qconfig = taeda.ao.quantization.default_qat_qconfig
    >>> prepare_qat(model)[0].__class__
    <class 'taeda.ao.nn.qat.Linear'>
    """
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode: call train()")
    if mapping is None:
        mapping = get_default_qat_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model)
    convert(model, mapping, inplace=True, remove_qconfig=False)
    return prepare(model, inplace=True, observer_non_leaf_module_list=set(mapping.values()))


def quantize_qat(
    model: nn.Module, run_fn: Callable[..., Any], run_args: Any, inplace: bool = False
) -> Any:
    """A model on integers: `prepare_qat`, training, `convert`.

    Args:
        model: as in `prepare_qat`; it goes to train mode.
        run_fn: called with the prepared model and `run_args`, to train it.
        run_args: more arguments.
        inplace: whether the model itself is changed.
    """
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    ready = prepare_qat(model, inplace=True)
    run_fn(ready, *run_args)
    return convert(ready, inplace=True)
