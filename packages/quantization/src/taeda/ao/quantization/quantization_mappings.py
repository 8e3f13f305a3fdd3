"""What becomes what: float layers, layers that are trained for integers, layers on integers."""

from __future__ import annotations

from typing import Any

from taeda import nn

from ..nn import intrinsic as nni
from ..nn import qat as nnqat
from ..nn import quantized as nnq
from ..nn.intrinsic import qat as nniqat
from ..nn.intrinsic import quantized as nniq
from ..nn.intrinsic.quantized import dynamic as nniqd
from ..nn.qat import dynamic as nnqatd
from ..nn.quantized import dynamic as nnqd
from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .stubs import DeQuantStub, QuantStub

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS", "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS", "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_compare_output_module_list", "get_default_dynamic_quant_module_mappings",
    "get_default_qat_module_mappings", "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings", "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings", "get_embedding_static_quant_module_mappings",
    "get_static_quant_module_class",
]  # fmt: skip

_HIDDEN_LINEAR = nn.modules.linear.NonDynamicallyQuantizableLinear

DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: nnq.Quantize, DeQuantStub: nnq.DeQuantize, nn.BatchNorm2d: nnq.BatchNorm2d,
    nn.BatchNorm3d: nnq.BatchNorm3d, nn.Dropout: nnq.Dropout, nn.Conv1d: nnq.Conv1d,
    nn.Conv2d: nnq.Conv2d, nn.Conv3d: nnq.Conv3d, nn.ConvTranspose1d: nnq.ConvTranspose1d,
    nn.ConvTranspose2d: nnq.ConvTranspose2d, nn.ConvTranspose3d: nnq.ConvTranspose3d, nn.ELU: nnq.ELU,
    nn.Embedding: nnq.Embedding, nn.EmbeddingBag: nnq.EmbeddingBag, nn.GroupNorm: nnq.GroupNorm,
    nn.Hardswish: nnq.Hardswish, nn.InstanceNorm1d: nnq.InstanceNorm1d,
    nn.InstanceNorm2d: nnq.InstanceNorm2d, nn.InstanceNorm3d: nnq.InstanceNorm3d,
    nn.LayerNorm: nnq.LayerNorm, nn.LeakyReLU: nnq.LeakyReLU, _HIDDEN_LINEAR: nnq.Linear,
    nn.Linear: nnq.Linear, nn.ReLU6: nnq.ReLU6, nn.PReLU: nnq.PReLU,
    nnq.FloatFunctional: nnq.QFunctional, nni.BNReLU2d: nniq.BNReLU2d, nni.BNReLU3d: nniq.BNReLU3d,
    nni.ConvReLU1d: nniq.ConvReLU1d, nni.ConvReLU2d: nniq.ConvReLU2d, nni.ConvReLU3d: nniq.ConvReLU3d,
    nni.LinearReLU: nniq.LinearReLU, nniqat.ConvBn1d: nnq.Conv1d, nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBn3d: nnq.Conv3d, nniqat.ConvBnReLU1d: nniq.ConvReLU1d,
    nniqat.ConvBnReLU2d: nniq.ConvReLU2d, nniqat.ConvBnReLU3d: nniq.ConvReLU3d,
    nniqat.ConvReLU1d: nniq.ConvReLU1d, nniqat.ConvReLU2d: nniq.ConvReLU2d,
    nniqat.ConvReLU3d: nniq.ConvReLU3d, nniqat.LinearReLU: nniq.LinearReLU, nnqat.Linear: nnq.Linear,
    nnqat.Conv1d: nnq.Conv1d, nnqat.Conv2d: nnq.Conv2d, nnqat.Conv3d: nnq.Conv3d,
}  # fmt: skip
DEFAULT_QAT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Conv2d: nnqat.Conv2d, nn.Conv3d: nnqat.Conv3d, nn.Linear: nnqat.Linear,
    _HIDDEN_LINEAR: nnqat.Linear, nni.ConvBn1d: nniqat.ConvBn1d, nni.ConvBn2d: nniqat.ConvBn2d,
    nni.ConvBn3d: nniqat.ConvBn3d, nni.ConvBnReLU1d: nniqat.ConvBnReLU1d,
    nni.ConvBnReLU2d: nniqat.ConvBnReLU2d, nni.ConvBnReLU3d: nniqat.ConvBnReLU3d,
    nni.ConvReLU2d: nniqat.ConvReLU2d, nni.ConvReLU3d: nniqat.ConvReLU3d,
    nni.LinearReLU: nniqat.LinearReLU,
}  # fmt: skip
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.GRUCell: nnqd.GRUCell, nn.Linear: nnqd.Linear, nnqatd.Linear: nnqd.Linear,
    _HIDDEN_LINEAR: nnqd.Linear, nn.LSTM: nnqd.LSTM, nn.GRU: nnqd.GRU, nn.LSTMCell: nnqd.LSTMCell,
    nn.RNNCell: nnqd.RNNCell, nni.LinearReLU: nniqd.LinearReLU, nn.EmbeddingBag: nnq.EmbeddingBag,
    nn.Embedding: nnq.Embedding,
}  # fmt: skip
#: modules whose results have known ends, and what knows them
DEFAULT_MODULE_TO_ACT_POST_PROCESS: dict[Any, Any] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}
_EMBEDDINGS: dict[Any, Any] = {
    nnqat.EmbeddingBag: nnq.EmbeddingBag,
    nnqat.Embedding: nnq.Embedding,
}


def get_default_static_quant_module_mappings() -> dict[Any, Any]:
    """Float layers, and those that are trained for integers, by layers on integers.

    >>> get_default_static_quant_module_mappings()[nn.Conv2d]
    <class 'taeda.ao.nn.quantized.modules.conv.Conv2d'>
    """
    return dict(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> dict[Any, Any]:
    """The same, and embeddings that are trained for integers.

    >>> get_embedding_static_quant_module_mappings()[nnqat.Embedding]
    <class 'taeda.ao.nn.quantized.modules.embedding_ops.Embedding'>
    """
    return {**DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, **_EMBEDDINGS}


def get_default_qat_module_mappings() -> dict[Any, Any]:
    """Float layers by those that are trained for integers.

    >>> get_default_qat_module_mappings()[nn.Linear]
    <class 'taeda.ao.nn.qat.Linear'>
    """
    return dict(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_qat_module_mappings() -> dict[Any, Any]:
    """The same, and embeddings.

    >>> nn.Embedding in get_embedding_qat_module_mappings()
    True
    >>> nn.Embedding in get_default_qat_module_mappings()
    False
    """
    more: dict[Any, Any] = {nn.EmbeddingBag: nnqat.EmbeddingBag, nn.Embedding: nnqat.Embedding}
    return {**DEFAULT_QAT_MODULE_MAPPINGS, **more}


def get_default_dynamic_quant_module_mappings() -> dict[Any, Any]:
    """Float layers by layers with weights in integers whose inputs are floats.

    >>> get_default_dynamic_quant_module_mappings()[nn.LSTM]
    <class 'taeda.ao.nn.quantized.dynamic.modules.rnn.LSTM'>
    """
    return dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def get_default_qconfig_propagation_list() -> set[Any]:
    """The classes of modules that are observed when they are leaves.

    >>> kinds = get_default_qconfig_propagation_list()
    >>> nn.Linear in kinds, nn.MaxPool2d in kinds
    (True, False)
    """
    tables: tuple[dict[Any, Any], ...] = (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, DEFAULT_QAT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    )  # fmt: skip
    return {kind for table in tables for kind in table} | {nn.Sequential}


def get_default_compare_output_module_list() -> set[Any]:
    """The classes of layers whose results are worth comparing: before and after.

    >>> kinds = get_default_compare_output_module_list()
    >>> nn.Linear in kinds, nnq.Linear in kinds, QuantStub in kinds
    (True, True, False)
    """
    tables: tuple[dict[Any, Any], ...] = (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, DEFAULT_QAT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    )  # fmt: skip
    both = {kind for table in tables for pair in table.items() for kind in pair}
    return both - {QuantStub, DeQuantStub, nnq.Quantize, nnq.DeQuantize}


def get_static_quant_module_class(
    float_module_class: Any, additional_static_quant_mapping: dict[Any, Any] | None = None
) -> Any:
    """The layer on integers of a float one.

    Args:
        float_module_class: the class.
        additional_static_quant_mapping: more of them, which win (default: None).

    AssertionError if there is none.

    >>> get_static_quant_module_class(nn.Linear)
    <class 'taeda.ao.nn.quantized.modules.linear.Linear'>
    """
    more = additional_static_quant_mapping or {}
    return _found(float_module_class, {**DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, **more})


def get_dynamic_quant_module_class(
    float_module_class: Any, additional_dynamic_quant_mapping: dict[Any, Any] | None = None
) -> Any:
    """The layer with a weight in integers of a float one.

    Args:
        float_module_class: the class.
        additional_dynamic_quant_mapping: more of them, which win (default: None).

    AssertionError if there is none.

    >>> get_dynamic_quant_module_class(nn.Linear)
    <class 'taeda.ao.nn.quantized.dynamic.modules.linear.Linear'>
    """
    more = additional_dynamic_quant_mapping or {}
    return _found(float_module_class, {**DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, **more})


def _found(kind: Any, table: dict[Any, Any]) -> Any:
    if kind not in table:
        raise AssertionError(f"there is no quantized layer of {kind}")
    return table[kind]
