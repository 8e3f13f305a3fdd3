"""Weights of `taeda.ops.quantized`: what its `*_prepack` operators give, and its layers take."""

from __future__ import annotations

from typing import Any, TypeVar

from taeda import Tensor
from taeda._core_api.doors import require_tensors

from . import _kernels

__all__ = ["ConvWeight", "LinearWeight", "weight_in"]

_W = TypeVar("_W", bound="LinearWeight")


class LinearWeight:
    """A weight in qint8 and a bias in float32, or None. Packing is kept with the weight itself."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        require_tensors("prepack", weight=weight)
        if bias is not None:
            require_tensors("prepack", bias=bias)
        _kernels.weight_of(weight, "prepack")
        self.own = weight.detach(), None if bias is None else bias.detach()


class ConvWeight(LinearWeight):
    """As a linear one, with how the window moves; only transposed convolutions have an `output_padding`."""

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: int,
        rank: int,
    ) -> None:
        super().__init__(weight, bias)
        if weight.dim() != rank + 2:
            raise RuntimeError(
                f"prepack: wanted a weight of {rank + 2} dimensions, but got {tuple(weight.shape)}"
            )
        steps = {"stride": stride, "padding": padding, "dilation": dilation}
        if output_padding is not None:
            steps["output_padding"] = output_padding
        for name, given in steps.items():
            if len(given) != rank:
                raise RuntimeError(f"prepack: {name} has {rank} numbers, but got {list(given)}")
        self.stride, self.padding = _ints(stride), _ints(padding)
        self.dilation, self.groups, self.rank = _ints(dilation), int(groups), rank
        self.output_padding = None if output_padding is None else _ints(output_padding)

    def of_rank(self, rank: int, turned: bool, name: str) -> ConvWeight:
        """Itself; RuntimeError for a weight of another kind of convolution."""
        if self.rank != rank or (self.output_padding is not None) != turned:
            raise RuntimeError(f"{name}: the weight was packed for another kind of convolution")
        return self

    def run(self, x: Tensor, scale: float, zero: int, relu: bool) -> Tensor:
        """The convolution of `x`, with this scale and zero point."""
        weight, bias = self.own
        window = self.stride, self.padding
        if self.output_padding is not None:
            return _kernels.transposed_convolution(
                x,
                weight,
                bias,
                *window,
                self.output_padding,
                self.dilation,
                self.groups,
                scale,
                zero,
            )
        return _kernels.convolution(
            x, weight, bias, *window, self.dilation, self.groups, scale, zero, relu
        )


def _ints(given: Any) -> list[int]:
    return [int(n) for n in given]


def weight_in(packed: Any, kind: type[_W], name: str) -> _W:
    """The packed weight; TypeError for anything else."""
    if type(packed) is not kind:
        made = "linear_prepack" if kind is LinearWeight else "a conv*_prepack"
        raise TypeError(
            f"{name}(): wanted the weight that {made} gives, but got {type(packed).__name__}"
        )
    return packed
