"""From a float model to one on integers: observe, then convert layer by layer.

_observing.py    who is quantized how, and what sees the results of each layer
_converting.py   what becomes of a layer that was observed
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor, nn

from . import qconfig as _q
from ._converting import convert, swap_module
from ._observing import (
    add_quant_dequant,
    get_default_custom_config_dict,
    prepare,
    propagate_qconfig_,
)
from .quantization_mappings import (
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
)

__all__ = [
    "add_quant_dequant", "convert", "default_eval_fn", "get_default_custom_config_dict", "prepare",
    "prepare_qat", "propagate_qconfig_", "quantize", "quantize_dynamic", "quantize_qat", "swap_module",
]  # fmt: skip


def default_eval_fn(
    model: Callable[[Tensor], Any], calib_data: Iterable[tuple[Tensor, Any]]
) -> None:
    """Run a model on examples.

    Args:
        model: what is called.
        calib_data: pairs (input, target), of which targets are left alone.

    >>> default_eval_fn(print, [(taeda.ones(2), 0), (taeda.zeros(1), 1)])
    tensor([1., 1.])
    tensor([0.])
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
        mapping, inplace: as in `convert` (defaults: mapping None, inplace False).

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1))
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
        qconfig_spec: `QConfig`s by types and names of layers, or a set of types and names;
            without it linear and recurrent layers, or of `quint8` and `quint4x2` embeddings
            (default: None).
        dtype: of weights: `qint8`, `float16`, `quint8` or `quint4x2`.
        mapping: classes of layers by what becomes of them, if not
            `get_default_dynamic_quant_module_mappings()` (default: None).
        inplace: whether the model itself is changed (default: False).

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
            `get_default_qat_module_mappings()` (default: None).
        inplace: whether the model itself is changed (default: False).

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
        inplace: whether the model itself is changed (default: False).

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1))
    >>> model.qconfig = taeda.ao.quantization.default_qat_qconfig
    >>> def train(ready, x):
    ...     ready(x)  # and backward, and a step of an optimizer
    ...     ready.eval()
    >>> quantize_qat(model, train, [taeda.rand(4, 2)]).module.weight().dtype
    taeda.qint8
    """
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    ready = prepare_qat(model, inplace=True)
    run_fn(ready, *run_args)
    return convert(ready, inplace=True)
