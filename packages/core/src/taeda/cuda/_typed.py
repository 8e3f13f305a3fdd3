"""`taeda.cuda.FloatTensor` and its kin: tensors of a dtype on the current device."""

from __future__ import annotations

from taeda._tensor.legacy_types import TYPED_CUDA

globals().update(TYPED_CUDA)
