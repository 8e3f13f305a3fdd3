"""Files of llama.cpp: their blocks as packed weights, with the same integers and scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import taeda
from taeda import Tensor

from ._pack import halves

__all__ = ["gguf_state_dict"]


def gguf_state_dict(
    tensors: Mapping[str, Any], rename: Callable[[str], str] | None = None
) -> dict[str, Tensor]:
    """What `taeda.load("model.gguf")` gave, as a state dict for `load_quantized_`.

    Args:
        tensors: tensors, which are taken as they are, and blocks. A matrix of Q8_0, Q4_0, Q4_1 or Q4_K
            becomes `weight`, `scales` and perhaps `offsets` of its layer: the file's numbers in another
            order, of which none is rounded. So does one of Q6_K, as int8 with a scale for every 16.
        rename: from a name in the file to the name in the model; None leaves names as they are.

    Raises ValueError for blocks that are no matrix named `weight`, and for two tensors of one name.

    >>> import taeda
    >>> made = taeda.quantization.gguf_state_dict({"head.bias": taeda.ones(3)})
    >>> list(made)
    ['head.bias']
    """
    state: dict[str, Tensor] = {}
    for name, value in tensors.items():
        renamed = name if rename is None else rename(name)
        made = {renamed: value} if isinstance(value, Tensor) else _packed(name, renamed, value)
        twice = state.keys() & made.keys()
        if twice:
            raise ValueError(
                f"gguf_state_dict: two tensors become {sorted(twice)[0]!r}; one is {name!r}"
            )
        state.update(made)
    return state


def _packed(name: str, renamed: str, blocks: Any) -> dict[str, Tensor]:
    prefix, _, last = renamed.rpartition(".")
    if last != "weight" or len(blocks.shape) != 2:
        raise ValueError(
            f"gguf_state_dict: {name!r} is {blocks!r}; packed weights are matrices whose name ends in "
            f"'weight', and this one becomes {renamed!r}. Take {name!r}.dequantize() for other uses"
        )
    parts, prefix = blocks.integers(), f"{prefix}." if prefix else ""
    nibbles = parts.q.dtype == taeda.uint8
    made = {"weight": halves(parts.q) if nibbles else parts.q, "scales": parts.scales}
    if parts.offsets is not None:
        made["offsets"] = parts.offsets
    return {prefix + part: tensor for part, tensor in made.items()}
