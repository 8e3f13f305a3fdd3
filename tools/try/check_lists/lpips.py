"""lpips: the distance between pictures by a network."""

from __future__ import annotations

from typing import Any

import lpips

from .given import filled, uniform


def distance() -> Any:
    found = []
    for net in ("alex", "squeeze"):
        model = filled(lpips.LPIPS(net=net, pretrained=False, pnet_rand=True, verbose=False)).eval()
        x = (uniform(1, 3, 64, 64) * 2 - 1).requires_grad_()
        out = model(x, uniform(1, 3, 64, 64))
        out.sum().backward()
        found += [out, x.grad]
    return found
