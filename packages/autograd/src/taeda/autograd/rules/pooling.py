"""Derivatives of pooling, and of the gradients of pooling."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn
from taeda._core_api.table import grid_sample_by_steps

from .._places import without_graph
from ._registry import differentiated, linear, not_differentiable
from ._registry import rule_as_is as rule
from ._registry import rule_joint_as_is as rule_joint

Shape = tuple[int, ...]


def _to_places(grad: Tensor, indices: Tensor, shape: Shape, n: int) -> Tensor:
    """Each gradient at its place in a plane of the last n dimensions of `shape`; where several meet
    they add up.
    """
    lead = tuple(shape[: len(shape) - n])
    planes = grad.new_zeros((*lead, math.prod(shape[len(shape) - n :])))
    return planes.scatter_add_(-1, indices.flatten(-n), grad.flatten(-n)).reshape(shape)


def _from_places(grad: Tensor, indices: Tensor, n: int) -> Tensor:
    return grad.flatten(-n).gather(-1, indices.flatten(-n)).reshape(indices.shape)


def _max_pool(n: int) -> None:
    backward = getattr(_nn, f"max_pool{n}d_backward")
    with_indices = (
        taeda.max_pool1d_with_indices if n == 1 else getattr(_nn, f"max_pool{n}d_with_indices")
    )

    def pooled(
        grad: Tensor, self: Tensor, kernel_size, stride, padding, dilation, ceil_mode
    ) -> Tensor:
        return backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode)

    def again(
        grad: Tensor, self: Tensor, kernel_size, stride, padding, dilation, ceil_mode
    ) -> Tensor:
        _, indices = with_indices(self.detach(), kernel_size, stride, padding, dilation, ceil_mode)
        return _from_places(grad, indices, n)

    rule(f"max_pool{n}d", self=pooled)
    rule(f"max_pool{n}d_backward", grad_output=again)
    for name in (f"max_pool{n}d_with_indices", f"adaptive_max_pool{n}d"):
        rule(
            name,
            differentiable_results=1,
            self=lambda grad, result1, self_shape: _to_places(grad, result1, self_shape, n),
        )


def _avg_pool(n: int) -> None:
    backward = getattr(_nn, f"avg_pool{n}d_backward")
    forward = taeda.avg_pool1d if n == 1 else getattr(_nn, f"avg_pool{n}d")
    if n == 1:
        rule(
            "avg_pool1d",
            self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad: (
                backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad)
            ),
        )
        rule(
            "avg_pool1d_backward",
            grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad: (
                forward(grad, kernel_size, stride, padding, ceil_mode, count_include_pad)
            ),
        )
        return
    rule(
        f"avg_pool{n}d",
        self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (  # noqa: E501
            backward(
                grad,
                self,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
            )
        ),
    )
    rule(
        f"avg_pool{n}d_backward",
        grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (  # noqa: E501
            forward(
                grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )
        ),
    )


def _adaptive_avg_pool(n: int) -> None:
    backward = getattr(_nn, f"adaptive_avg_pool{n}d_backward")
    forward = taeda.adaptive_avg_pool1d if n == 1 else getattr(_nn, f"adaptive_avg_pool{n}d")
    rule(f"adaptive_avg_pool{n}d", self=lambda grad, self: backward(grad, self))
    rule(
        f"adaptive_avg_pool{n}d_backward",
        grad_output=lambda grad, grad_output_shape: forward(grad, grad_output_shape[-n:]),
    )


for _n in (1, 2, 3):
    _max_pool(_n)
    _avg_pool(_n)
    _adaptive_avg_pool(_n)

# ---- padding ----
rule("constant_pad_nd", self=lambda grad, pad: taeda.constant_pad_nd(grad, [-n for n in pad], 0))


# ---- resampling: linear in its input, so the gradient of the gradient is the operator itself ----
def _upsample_aligned(name: str) -> None:
    forward, backward = getattr(_nn, name), getattr(_nn, f"{name}_backward")
    if name.endswith("1d"):
        rule(
            name,
            self=lambda grad, self_shape, output_size, align_corners, scales: backward(
                grad, output_size, self_shape, align_corners, scales
            ),
        )
        rule(
            f"{name}_backward",
            grad_output=lambda grad, output_size, align_corners, scales: forward(
                grad, output_size, align_corners, scales
            ),
        )
    elif name.endswith("3d"):
        rule(
            name,
            self=lambda grad, self_shape, output_size, align_corners, scales_d, scales_h, scales_w: (
                backward(grad, output_size, self_shape, align_corners, scales_d, scales_h, scales_w)
            ),
        )
        rule(
            f"{name}_backward",
            grad_output=lambda grad, output_size, align_corners, scales_d, scales_h, scales_w: (
                forward(grad, output_size, align_corners, scales_d, scales_h, scales_w)
            ),
        )
    else:
        rule(
            name,
            self=lambda grad, self_shape, output_size, align_corners, scales_h, scales_w: backward(
                grad, output_size, self_shape, align_corners, scales_h, scales_w
            ),
        )
        rule(
            f"{name}_backward",
            grad_output=lambda grad, output_size, align_corners, scales_h, scales_w: forward(
                grad, output_size, align_corners, scales_h, scales_w
            ),
        )


def _upsample_nearest(stem: str) -> None:
    one, two, three = (
        (getattr(_nn, f"{stem}{n}d"), getattr(_nn, f"{stem}{n}d_backward")) for n in (1, 2, 3)
    )
    rule(
        f"{stem}1d",
        self=lambda grad, self_shape, output_size, scales: one[1](
            grad, output_size, self_shape, scales
        ),
    )
    rule(
        f"{stem}1d_backward",
        grad_output=lambda grad, output_size, scales: one[0](grad, output_size, scales),
    )
    rule(
        f"{stem}2d",
        self=lambda grad, self_shape, output_size, scales_h, scales_w: two[1](
            grad, output_size, self_shape, scales_h, scales_w
        ),
    )
    rule(
        f"{stem}2d_backward",
        grad_output=lambda grad, output_size, scales_h, scales_w: two[0](
            grad, output_size, scales_h, scales_w
        ),
    )
    rule(
        f"{stem}3d",
        self=lambda grad, self_shape, output_size, scales_d, scales_h, scales_w: three[1](
            grad, output_size, self_shape, scales_d, scales_h, scales_w
        ),
    )
    rule(
        f"{stem}3d_backward",
        grad_output=lambda grad, output_size, scales_d, scales_h, scales_w: three[0](
            grad, output_size, scales_d, scales_h, scales_w
        ),
    )


for _name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
              "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"):  # fmt: skip
    _upsample_aligned(_name)
_upsample_nearest("upsample_nearest")
_upsample_nearest("_upsample_nearest_exact")


def _unpadded(grad: Tensor, self_shape: Shape, padding: Shape, mode: int) -> Tensor:
    """What every element gets from all the places that show it."""
    for i in range(len(padding) // 2):
        before, after, dim = padding[2 * i], padding[2 * i + 1], len(self_shape) - 1 - i
        if not (before or after):
            continue
        last = self_shape[dim] - 1
        place = taeda.arange(-before, last + 1 + after, device=grad.device)
        place = last - (last - place.abs()).abs() if mode == 0 else place.clamp(0, last)
        shape = list(grad.shape)
        shape[dim] = last + 1
        grad = grad.new_zeros(shape).index_add(dim, place, grad)
    return grad


rule("_pad_inside", self=_unpadded)


# ---- values at the places of a grid: a kernel, or steps where the gradient is differentiated ----
@rule_joint("_grid_sample")
def _grid_sample(
    grads: tuple[Tensor],
    needs: tuple[bool, ...],
    input: Tensor,
    grid: Tensor,
    mode: int,
    padding_mode: int,
    align_corners: bool,
) -> tuple[Tensor | None, ...]:
    how = (mode, padding_mode, align_corners)
    if not differentiated():
        return _nn._grid_sample_backward(grads[0], input, grid, *how, list(needs))
    recorded = taeda.is_grad_enabled()
    # where only tangents are asked for, this walk needs a graph all the same
    with taeda.enable_grad():
        sources = [
            x if x.requires_grad else without_graph(x).requires_grad_() for x in (input, grid)
        ]
        values = grid_sample_by_steps(*sources, *how)
        wanted = [x for x, need in zip(sources, needs, strict=True) if need]
        found = taeda.autograd.grad(
            values, wanted, grads[0], create_graph=True, allow_unused=True, materialize_grads=True
        )
    made = iter(found if recorded else map(without_graph, found))
    return tuple(next(made) if need else None for need in needs)


not_differentiable(
    "_grid_sample_backward", "a gradient that is differentiated again is computed in steps"
)

# ---- channels and pixels ----
rule(
    "pixel_shuffle",
    self=lambda grad, upscale_factor: taeda.pixel_unshuffle(grad, upscale_factor),
)
rule(
    "pixel_unshuffle",
    self=lambda grad, downscale_factor: taeda.pixel_shuffle(grad, downscale_factor),
)

# ---- windows as columns ----
rule(
    "im2col",
    self=lambda grad, self_shape, kernel_size, dilation, padding, stride: _nn.col2im(
        grad, self_shape[-2:], kernel_size, dilation, padding, stride
    ),
)
rule(
    "col2im",
    self=lambda grad, kernel_size, dilation, padding, stride: _nn.im2col(
        grad, kernel_size, dilation, padding, stride
    ),
)

# ---- tangents: these are linear, and so are their derivatives ----
linear("constant_pad_nd", value=0)
linear("_pad_inside", "pixel_shuffle", "pixel_unshuffle")
linear("im2col", "col2im")
for _n in (1, 2, 3):
    linear(f"avg_pool{_n}d", f"adaptive_avg_pool{_n}d")
for _name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
              "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa",
              *(f"{stem}{n}d" for stem in ("upsample_nearest",
                  "_upsample_nearest_exact") for n in (1, 2, 3))):  # fmt: skip
    linear(_name, f"{_name}_backward")
