"""A linear layer for dynamic quantization."""

from __future__ import annotations

from typing import Any

from .. import _layers

__all__ = ["Linear"]


class Linear(_layers.Linear):
    """`nn.qat.Linear` for inputs with the scale of their own range.

    Args:
        in_features, out_features, bias, device, dtype: as in `nn.Linear` (defaults: bias True,
            device None, dtype None).
        qconfig: how; its `activation` is dynamic (default: None).

    ValueError for an activation that keeps a scale, AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_dynamic_qat_qconfig
    >>> layer = taeda.ao.nn.qat.dynamic.Linear(2, 3, qconfig=how)
    >>> layer(taeda.ones(4, 2)).shape
    taeda.Size([4, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        watch = qconfig.activation()
        if not getattr(watch, "is_dynamic", False):
            raise ValueError(
                "dynamic QAT wants a qconfig whose activation keeps no scale, such as "
                f"default_dynamic_qat_qconfig, but got {type(watch).__name__}"
            )
