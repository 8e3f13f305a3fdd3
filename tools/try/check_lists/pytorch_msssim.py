"""pytorch-msssim: likeness of pictures, with gradients."""

from __future__ import annotations

from typing import Any

from pytorch_msssim import MS_SSIM, SSIM, ms_ssim, ssim

from .given import uniform


def likeness() -> Any:
    x, y = uniform(1, 3, 180, 180).requires_grad_(), uniform(1, 3, 180, 180)
    found = [
        ssim(x, y, data_range=1.0),
        ms_ssim(x, y, data_range=1.0),
        SSIM(data_range=1.0)(x, y),
        MS_SSIM(data_range=1.0)(x, y),
    ]
    sum(found).backward()
    return [*found, x.grad]
