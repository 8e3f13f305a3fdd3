"""What `fully_shard` may be told of dtypes and of memory, and how replicas are laid out."""

from __future__ import annotations

from dataclasses import dataclass

import taeda

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which dtypes a unit computes and adds up; shards keep their own.

    Args:
        param_dtype: the dtype in which whole parameters travel and compute; None keeps theirs.
        reduce_dtype: the dtype in which gradients are added up; None is that of the computation.
        output_dtype: the dtype of floating outputs of the forward; None leaves them.
        cast_forward_inputs: True, the default, casts floating inputs of the forward to
            `param_dtype`.

    >>> MixedPrecisionPolicy(param_dtype=taeda.bfloat16, reduce_dtype=taeda.float32).reduce_dtype
    taeda.float32
    """

    param_dtype: taeda.dtype | None = None
    reduce_dtype: taeda.dtype | None = None
    output_dtype: taeda.dtype | None = None
    cast_forward_inputs: bool = True

    def __post_init__(self) -> None:
        for name in ("param_dtype", "reduce_dtype", "output_dtype"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, taeda.dtype):
                raise TypeError(f"{name} is a dtype or None, not {value!r}")
            if value is not None and not value.is_floating_point:
                raise ValueError(f"{name} is a floating-point dtype, not {value}")


class OffloadPolicy:
    """Shards stay where they are.

    >>> isinstance(CPUOffloadPolicy(), OffloadPolicy)
    True
    """


@dataclass(frozen=True)
class CPUOffloadPolicy(OffloadPolicy):
    """Shards, their gradients and the states of optimizers lie in the memory of the processor.

    On a mesh of GPUs they are copied for every gather, and a backward waits for the gradients of each
    unit. Where meshes are of processors they lie there anyway.

    Args:
        pin_memory: whether their pages are locked, which makes copies to GPUs quicker; on the
            processor it changes nothing (default: True).

    >>> CPUOffloadPolicy(pin_memory=False)
    CPUOffloadPolicy(pin_memory=False)
    """

    pin_memory: bool = True
