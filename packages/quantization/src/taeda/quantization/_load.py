"""A quantized state dict into a float model, without packing anything again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import taeda
from taeda import Tensor
from taeda.nn import Embedding, Linear, Module

from ._modules import Int4Embedding, Int4Linear, Int8Embedding, Int8Linear
from ._pack import Packed
from ._quantize import _put

__all__ = ["load_quantized_"]

_Model = TypeVar("_Model", bound=Module)

_KINDS: dict[tuple[type[Module], Any], Any] = {
    (Linear, taeda.int8): Int8Linear,
    (Linear, taeda.uint8): Int4Linear,
    (Embedding, taeda.int8): Int8Embedding,
    (Embedding, taeda.uint8): Int4Embedding,
}


def load_quantized_(model: _Model, state_dict: Mapping[str, Any]) -> _Model:
    """Load what `state_dict()` of a quantized model gave into a float model of the same code, in place.

    Args:
        model: as it was before `quantize_`; the layers that were packed change places with packed ones, the
            others are loaded as `load_state_dict` does, and so are names that are missing or left over. One
            on the device meta takes the tensors themselves: a large model needs no float form before.
        state_dict: packed tensors are taken as they are, not copied, and tensors that share memory here
            share it in the model.

    Returns `model`. Raises RuntimeError if the two do not fit; the model may then have changed.

    >>> model = taeda.nn.Sequential(taeda.nn.Linear(64, 8))
    >>> config = taeda.quantization.int4_weight_only()
    >>> _ = taeda.quantization.quantize_(model, config, measure=False)
    >>> again = load_quantized_(taeda.nn.Sequential(taeda.nn.Linear(64, 8)), model.state_dict())
    >>> x = taeda.ones(1, 64)
    >>> bool((again(x) == model(x)).all())
    True
    """
    if not isinstance(model, Module):
        raise TypeError(f"load_quantized_: model must be an nn.Module, not {type(model).__name__}")
    if not isinstance(state_dict, Mapping):
        raise TypeError(
            f"load_quantized_: state_dict must be a mapping, not {type(state_dict).__name__}"
        )
    made = {}
    for name, module in model.named_modules(remove_duplicate=False):
        prefix = f"{name}." if name else ""
        if f"{prefix}scales" in state_dict and type(module) in (Linear, Embedding):
            made[id(module)] = _made(name, module, state_dict, prefix)
    _put(model, made)
    model.load_state_dict(state_dict, assign=any(p.is_meta for p in model.parameters()))
    return model


def _made(name: str, module: Module, state: Mapping[str, Any], prefix: str) -> Module:
    parts = [state.get(prefix + part) for part in ("weight", "scales", "offsets")]
    weight, scales, offsets = parts
    if not isinstance(weight, Tensor) or not isinstance(scales, Tensor):
        raise RuntimeError(
            f"load_quantized_: {prefix}weight and {prefix}scales must both be tensors, but are "
            f"{type(weight).__name__} and {type(scales).__name__}"
        )
    kind = _KINDS.get((type(module), weight.dtype))
    if kind is None:
        raise RuntimeError(
            f"load_quantized_: {prefix}weight is {weight.dtype}; packed weights are int8, or uint8 for 4 bits"
        )
    packed = Packed(weight, scales, offsets)
    try:
        return _of_kind(kind, module, packed)
    except MemoryError:  # a RuntimeError as well
        raise
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(f"load_quantized_: {name} does not fit: {error}") from error


def _of_kind(kind: Any, module: Module, packed: Packed) -> Module:
    if isinstance(module, Linear):
        made = kind(module.out_features, module.in_features, packed, module.bias)
    else:
        assert isinstance(module, Embedding)
        made = kind(
            module.num_embeddings,
            module.embedding_dim,
            packed,
            module.padding_idx,
            module.weight.dtype,
        )
    return made.train(module.training)
