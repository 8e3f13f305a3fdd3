"""A vector times packed weights beside torch's operators for the same integers and scales."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import taeda
from taeda.quantization._pack import halves


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 96), (3, 768, 768), (17, 32, 2048)])
def test_int8_with_a_scale_for_each_row(m, n, k, dtype):
    rng = np.random.default_rng([m, n, k])
    x = rng.standard_normal((m, k)).astype("f4")
    q = rng.integers(-127, 128, (n, k)).astype("i1")
    scales = rng.uniform(0.001, 0.01, n).astype("f2").astype("f4")
    given = taeda.from_numpy(x).to(getattr(taeda, dtype))
    made = taeda._weight_int8_mm(given, taeda.from_numpy(q), taeda.from_numpy(scales[:, None]))
    theirs = torch.from_numpy(x).to(getattr(torch, dtype))
    scale = torch.from_numpy(scales).to(theirs.dtype)
    want = torch._weight_int8pack_mm(theirs, torch.from_numpy(q), scale).float().numpy()
    bound = 1e-4 if dtype == "float32" else 0.02  # torch rounds scales to 16 bits
    assert np.abs(made.float().numpy() - want).max() <= bound * np.abs(want).max()


@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 96), (3, 768, 768), (17, 32, 2048)])
def test_int4_in_groups_of_32(m, n, k):
    """Torch's number is (q - 8) * scale + zero."""
    rng = np.random.default_rng([m, n, k])
    x = torch.from_numpy(rng.standard_normal((m, k)).astype("f4")).bfloat16()
    q = rng.integers(0, 16, (n, k)).astype("i4")
    both = torch.from_numpy(rng.uniform(0.001, 0.01, (k // 32, n, 2)).astype("f4")).bfloat16()
    packed = torch._convert_weight_to_int4pack_for_cpu(torch.from_numpy(q), 1)
    want = torch._weight_int4pack_mm_for_cpu(x, packed, 32, both).float().numpy()
    scales, zeros = (part.T.contiguous() for part in both.float().unbind(2))
    offsets = taeda.from_numpy((zeros - 8 * scales).numpy())
    made = taeda._weight_int4_mm(
        taeda.from_numpy(x.float().numpy()),
        halves(taeda.from_numpy(q.astype("u1"))),
        taeda.from_numpy(scales.numpy()),
        offsets,
    )
    assert np.abs(made.numpy() - want).max() <= 0.02 * np.abs(want).max()
