"""Pooling, padding, resampling, and the rearrangements of image layers."""

from __future__ import annotations

from ._row import op

for _n in (1, 2, 3):
    # the one-dimensional forms are public functions, the others are reached through nn.functional
    _top, _max = (
        ("" if _n == 1 else "nn"),
        f"int[{_n}] stride=[], int[{_n}] padding=0, int[{_n}] dilation=1, bool ceil_mode=False",
    )
    _avg = f"int[{_n}] stride=[], int[{_n}] padding=0, bool ceil_mode=False, bool count_include_pad=True"
    _divisor = "" if _n == 1 else ", int? divisor_override=None"
    _cast = "float32" if _n == 3 else ""
    op(
        f"max_pool{_n}d(Tensor self, int[{_n}] kernel_size, {_max}) -> Tensor",
        c=f"max_pool{_n}d",
        device="any",
        variants="function",
        autocast=_cast,
        doc="The largest number of each window.",
    )
    op(
        f"max_pool{_n}d_with_indices(Tensor self, int[{_n}] kernel_size, {_max}) -> (Tensor, Tensor)",
        c=f"max_pool{_n}d_with_indices",
        device="any",
        variants="function",
        namespace=_top,
        doc="The largest number of each window and its place in the plane.",
    )
    op(
        f"max_pool{_n}d_backward(Tensor grad_output, Tensor self, int[{_n}] kernel_size, {_max}) -> Tensor",
        c=f"max_pool{_n}d_backward",
        device="any",
        variants="function",
        namespace="nn",
        doc="Gradient of max pooling.",
    )
    op(
        f"avg_pool{_n}d(Tensor self, int[{_n}] kernel_size, {_avg}{_divisor}) -> Tensor",
        c=f"avg_pool{_n}d",
        device="any",
        autocast=_cast,
        variants="function" if _n == 1 else "function out",
        namespace=_top,
        doc="The average of each window.",
    )
    op(
        f"avg_pool{_n}d_backward(Tensor grad_output, Tensor self, int[{_n}] kernel_size, "
        f"{_avg}{_divisor}) -> Tensor",
        c=f"avg_pool{_n}d_backward",
        device="any",
        variants="function",
        namespace="nn",
        doc="Gradient of average pooling.",
    )
    op(
        f"adaptive_avg_pool{_n}d(Tensor self, int[{_n}] output_size) -> Tensor",
        c=f"adaptive_avg_pool{_n}d",
        device="any",
        autocast=_cast,
        variants="function",
        namespace=_top,
        doc="Averages of as many parts as asked for.",
    )
    op(
        f"adaptive_avg_pool{_n}d_backward(Tensor grad_output, Tensor self) -> Tensor",
        c=f"adaptive_avg_pool{_n}d_backward",
        device="any",
        variants="function",
        namespace="nn",
        doc="Gradient of adaptive average pooling.",
    )
    op(
        f"adaptive_max_pool{_n}d(Tensor self, int[{_n}] output_size) -> (Tensor, Tensor)",
        c=f"adaptive_max_pool{_n}d",
        device="any",
        autocast=_cast,
        variants="function",
        namespace=_top,
        doc="The largest numbers of as many parts as asked for, and their places.",
    )

# ---- padding ----
op(
    "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor",
    composite=True,
    variants="function",
    namespace="nn",
    doc="A border of one value, or of what is inside.",
)
op(
    "_pad_inside(Tensor self, int[] padding, int mode) -> Tensor",
    c="_pad_inside", device="any",
    variants="function",
    namespace="nn",
    doc="A border of what is inside: mirrored (mode 0) or repeated (1).",
)
for _n in (1, 2, 3):
    for _mode in ("reflection", "replication"):
        op(
            f"{_mode}_pad{_n}d(Tensor self, int[{2 * _n}] padding) -> Tensor",
            autocast="" if (_mode, _n) == ("reflection", 3) else "float32",
            composite=True,
            variants="function",
            namespace="nn",
            doc="A border of what is inside.",
        )

# ---- resampling ----
_SCALES = {1: "float? scales=None", 2: "float? scales_h=None, float? scales_w=None",
           3: "float? scales_d=None, float? scales_h=None, float? scales_w=None"}  # fmt: skip


def upsample(name: str, n: int, align: str, doc: str, device: str = "") -> None:
    """A row and that of its gradient."""
    op(
        f"{name}(Tensor self, int[{n}] output_size, {align}{_SCALES[n]}) -> Tensor",
        c=name,
        device=device,
        variants="function",
        namespace="nn",
        doc=doc,
    )
    op(
        f"{name}_backward(Tensor grad_output, int[{n}] output_size, int[{n + 2}] input_size, "
        f"{align}{_SCALES[n]}) -> Tensor",
        c=f"{name}_backward",
        device=device,
        variants="function",
        namespace="nn",
        doc=f"Gradient of {name}.",
    )


for _name, _n in (("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_trilinear3d", 3),
                  ("upsample_bicubic2d", 2),
                  ("_upsample_bilinear2d_aa", 2), ("_upsample_bicubic2d_aa", 2),
                  ("_upsample_lanczos2d_aa", 2)):  # fmt: skip
    upsample(_name, _n, "bool align_corners, ", "Another size by weighted sums of neighbours.", "any")
for _n in (1, 2, 3):
    upsample(f"upsample_nearest{_n}d", _n, "", "Another size by the nearest neighbour.", "any")
    upsample(
        f"_upsample_nearest_exact{_n}d",
        _n,
        "",
        "Another size by the neighbour nearest to each centre.",
        "any",
    )

# ---- sampling ----
op(
    "_grid_sample(Tensor input, Tensor grid, int mode, int padding_mode, bool align_corners) -> Tensor",
    c="_grid_sample",
    device="any",
    variants="function",
    namespace="nn",
    doc="Values between pixels, of float32 or float64: nn.functional.grid_sample in one call.",
)
op(
    "_grid_sample_backward(Tensor grad_output, Tensor input, Tensor grid, int mode, int padding_mode, "
    "bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
    c="_grid_sample_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradients of _grid_sample by input and grid; None where the mask is False.",
)

# ---- windows as columns, channels as pixels ----
op(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    c="im2col",
    device="any",
    variants="function",
    namespace="nn",
    doc="Windows of images as columns.",
)
op(
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    c="col2im", device="any",
    variants="function",
    namespace="nn",
    doc="Columns added back into images.",
)
op(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    c="pixel_shuffle", device="any",
    variants="function",
    doc="Channels to a finer grid of pixels.",
)
op(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    c="pixel_unshuffle", device="any",
    variants="function",
    doc="Pixels of a fine grid to channels.",
)
op(
    "channel_shuffle(Tensor self, int groups) -> Tensor",
    composite=True,
    variants="function",
    aliases="native_channel_shuffle",
    doc="Channels of the groups in turns.",
)
