"""`taeda.ops.quantized`: operators on quantized tensors, for programs that call them by these names.

They are the functions of `taeda.ao.nn.quantized` with the arguments of PyTorch's operators. What a
`*_prepack` gives is a weight with a bias, not yet packed: packing is done and kept at the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.doors import require_tensors

from . import _arithmetic, _kernels
from ._activations import mapped, normalised
from ._normalise import batch_norm
from ._packed_weights import ConvWeight, LinearWeight, weight_in
from .rules._registry import one_scale

__all__ = ["find", "names"]

F = nn.functional
Function = Callable[..., Any]

_FOUND: dict[str, Function] = {}


def find(name: str) -> Function | None:
    """The operator of this name, or None."""
    return _FOUND.get(name)


def names() -> list[str]:
    """All of them."""
    return sorted(_FOUND)


def _put(function: Function, name: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "taeda.ops.quantized"
    function.default = function  # type: ignore[attr-defined]  # the one overload there is
    _FOUND[name] = function


# ---- arithmetic ----


def _pair(name: str, whole: Function, number: Function, relu: bool) -> None:
    def run(qa: Any, qb: Any, scale: float | None = None, zero_point: int | None = None) -> Any:
        if isinstance(qa, (int, float)):  # a number beside a tensor has no place of its own
            qa, qb = qb, qa
        if scale is None or zero_point is None:
            require_tensors(name, qa=qa)
            return number(qa, _number(name, qb), relu)
        require_tensors(name, qa=qa, qb=qb)
        return whole(qa, qb, float(scale), int(zero_point), relu)

    _put(run, name)


def _scalar(name: str, number: Function, relu: bool) -> None:
    def run(qa: Tensor, b: Any) -> Tensor:
        require_tensors(name, qa=qa)
        made: Tensor = number(qa, _number(name, b), relu)
        return made

    _put(run, name)


def _number(name: str, value: Any) -> float:
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_quantized:
        value = value.item()
    if not isinstance(value, (int, float)):
        raise TypeError(
            f"{name}(): wanted a number, or a quantized tensor with the scale and zero point of the result, "
            f"but got {type(value).__name__}"
        )
    return float(value)


for _name, _whole, _one in (
    ("add", _arithmetic.add, _arithmetic.add_scalar),
    ("mul", _arithmetic.mul, _arithmetic.mul_scalar),
):
    for _more in (False, True):
        _pair(_name + "_relu" * _more, _whole, _one, _more)
        _scalar(f"{_name}_scalar" + "_relu" * _more, _one, _more)


def _cat(name: str, relu: bool) -> None:
    def run(
        qx: Sequence[Tensor], dim: int, scale: float | None = None, zero_point: int | None = None
    ) -> Tensor:
        if not len(qx):
            raise RuntimeError(f"{name}: wanted at least one tensor, got an empty list")
        require_tensors(name, **{f"qx[{n}]": x for n, x in enumerate(qx)})
        first = one_scale(qx[0], name)
        scale = first.scale if scale is None else float(scale)
        zero_point = first.zero_point if zero_point is None else int(zero_point)
        return _arithmetic.cat(qx, dim, scale, zero_point, relu)

    _put(run, name)


_cat("cat", False)
_cat("cat_relu", True)


def _matmul(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    require_tensors("matmul", qa=qa, qb=qb)
    return _arithmetic.matmul(qa, qb, float(scale), int(zero_point))


_put(_matmul, "matmul")


# ---- layers ----


def _linear(name: str, relu: bool) -> None:
    def run(X: Tensor, W_prepack: Any, Y_scale_i: float, Y_zero_point_i: int) -> Tensor:
        require_tensors(name, X=X)
        weight, bias = weight_in(W_prepack, LinearWeight, name).own
        return _kernels.linear(X, weight, bias, float(Y_scale_i), int(Y_zero_point_i), relu)

    _put(run, name)


def _dynamic(name: str, relu: bool) -> None:
    def run(X: Tensor, W_prepack: Any, reduce_range: bool = False) -> Tensor:
        require_tensors(name, X=X)
        weight, bias = weight_in(W_prepack, LinearWeight, name).own
        return _kernels.dynamic_linear(X, weight, bias, bool(reduce_range), relu)

    _put(run, name)


_linear("linear", False)
_linear("linear_relu", True)
_dynamic("linear_dynamic", False)
_dynamic("linear_relu_dynamic", True)
_put(lambda W, B=None: LinearWeight(W, B), "linear_prepack")
_put(lambda W_prepack: weight_in(W_prepack, LinearWeight, "linear_unpack").own, "linear_unpack")


def _conv(name: str, rank: int, relu: bool) -> None:
    def run(qx: Tensor, packed_weight: Any, *facts: Any) -> Tensor:
        """(qx, weight, scale, zero point), or with stride, padding, dilation and groups before these two,
        which the weight knows as well.
        """
        require_tensors(name, qx=qx)
        if len(facts) not in (2, 6):
            raise TypeError(f"{name}(): wanted 4 or 8 arguments, but got {len(facts) + 2}")
        weight = weight_in(packed_weight, ConvWeight, name).of_rank(rank, False, name)
        return weight.run(qx, float(facts[-2]), int(facts[-1]), relu)

    _put(run, name)


def _conv_weights(rank: int) -> None:
    def prepack(
        weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> ConvWeight:
        return ConvWeight(weight, bias, stride, padding, None, dilation, groups, rank)

    name = f"conv{rank}d_unpack"
    _put(prepack, f"conv{rank}d_prepack")
    _put(lambda packed_weights: weight_in(packed_weights, ConvWeight, name).own, name)


def _turned(rank: int) -> None:
    name = f"conv_transpose{rank}d"

    def prepack(
        weight: Tensor,
        bias: Tensor | None,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: int,
    ) -> ConvWeight:
        return ConvWeight(weight, bias, stride, padding, output_padding, dilation, groups, rank)

    def run(qx: Tensor, packed_weight: Any, output_scale: float, output_zero_point: int) -> Tensor:
        require_tensors(name, qx=qx)
        weight = weight_in(packed_weight, ConvWeight, name).of_rank(rank, True, name)
        return weight.run(qx, float(output_scale), int(output_zero_point), False)

    _put(prepack, f"{name}_prepack")
    _put(lambda packed_weights: weight_in(packed_weights, ConvWeight, name).own, f"{name}_unpack")
    _put(run, name)


for _rank in (1, 2, 3):
    _conv(f"conv{_rank}d", _rank, False)
    _conv(f"conv{_rank}d_relu", _rank, True)
    _conv_weights(_rank)
    _turned(_rank)


# ---- normalisation ----


def _batch_norm(name: str, relu: bool) -> None:
    def run(
        qx: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        mean: Tensor,
        var: Tensor,
        eps: float,
        output_scale: float,
        output_zero_point: int,
    ) -> Tensor:
        require_tensors(name, qx=qx, mean=mean, var=var)
        scale, zero = float(output_scale), int(output_zero_point)
        return batch_norm(qx, weight, bias, mean, var, eps, scale, zero, relu)

    _put(run, name)


for _rank_word in ("", "1d", "2d", "3d"):
    _batch_norm(f"batch_norm{_rank_word}", False)
    _batch_norm(f"batch_norm{_rank_word}_relu", True)


def _layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    require_tensors("layer_norm", input=input)

    def function(x: Tensor) -> Tensor:
        return F.layer_norm(x, tuple(normalized_shape), weight, bias, eps)

    return normalised(input, "layer_norm", function, output_scale, output_zero_point)


def _group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    require_tensors("group_norm", input=input)

    def function(x: Tensor) -> Tensor:
        return F.group_norm(x, num_groups, weight, bias, eps)

    return normalised(input, "group_norm", function, output_scale, output_zero_point)


def _instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    require_tensors("instance_norm", input=input)

    def function(x: Tensor) -> Tensor:
        return F.instance_norm(x, weight=weight, bias=bias, eps=eps)

    return normalised(input, "instance_norm", function, output_scale, output_zero_point)


_NORMS: tuple[Function, ...] = (_layer_norm, _group_norm, _instance_norm)
for _function in _NORMS:
    _put(_function, _function.__name__[1:])


# ---- functions of one number ----


def _own_scale(name: str, function: Function) -> None:
    def run(qx: Tensor, output_scale: float, output_zero_point: int, *args: Any) -> Tensor:
        require_tensors(name, qx=qx)
        scale, zero = float(output_scale), int(output_zero_point)
        return mapped(qx, name, lambda x: function(x, *args), scale, zero)

    _put(run, name)


_OWN: dict[str, Function] = {"hardswish": F.hardswish, "celu": F.celu, "sigmoid": taeda.sigmoid}
for _name, _of_floats in _OWN.items():
    _own_scale(_name, _of_floats)


def _elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return taeda.where(x > 0, x * scale, alpha * scale * taeda.expm1(x * input_scale))


_own_scale("elu", lambda x, *args: F.elu(x, *args) if len(args) < 2 else _elu(x, *args))


def _leaky_relu(
    qx: Tensor, negative_slope: float, inplace: bool, output_scale: float, output_zero_point: int
) -> Tensor:
    require_tensors("leaky_relu", qx=qx)
    scale, zero = float(output_scale), int(output_zero_point)
    return mapped(qx, "leaky_relu", lambda x: F.leaky_relu(x, negative_slope), scale, zero)


def _softmax(qx: Tensor, dim: int, output_scale: float, output_zero_point: int) -> Tensor:
    require_tensors("softmax", qx=qx)
    return normalised(qx, "softmax", lambda x: x.softmax(dim), output_scale, output_zero_point)


def _max_pool2d(
    qx: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Tensor:
    require_tensors("max_pool2d", qx=qx)
    one_scale(qx, "max_pool2d")
    return F.max_pool2d(qx, kernel_size, stride or None, padding, dilation, ceil_mode)


def _threshold(qx: Tensor, threshold: float, value: float) -> Tensor:
    require_tensors("threshold", qx=qx)
    one_scale(qx, "threshold")
    return F.threshold(qx, threshold, value)


def _relu6(qx: Tensor, inplace: bool = False) -> Tensor:
    require_tensors("relu6", qx=qx)
    one_scale(qx, "relu6")
    made = F.relu6(qx)
    return qx.copy_(made) if inplace else made


def _clamp(qx: Tensor, min: float | None = None, max: float | None = None) -> Tensor:
    require_tensors("clamp", qx=qx)
    one_scale(qx, "clamp")
    return taeda.clamp(qx, min, max)


_OTHERS: tuple[Function, ...] = (_leaky_relu, _softmax, _max_pool2d, _threshold, _relu6, _clamp)
for _function in _OTHERS:
    _put(_function, _function.__name__[1:])
