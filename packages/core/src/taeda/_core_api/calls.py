"""Who sees a call of an operation before its kernel, and how autocast changes its arguments."""

from __future__ import annotations

from taeda._layers import AUTOCAST, DUAL, FUNCTION_MODE, OVERRIDE, TRANSFORM, hidden
from taeda._layers.autocast import (
    FLOAT32,
    FLOAT32_ON_CUDA,
    Snapshot,
    autocast_increment_nesting,
    call_autocast,
    cast_weight,
    casts_to_float32,
    is_autocast_enabled,
    keep_weight,
    leave,
    lower_type,
    region,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    snapshot,
    switches,
    watch,
)
from taeda._layers.dispatch import disabled_torch_function, register_layer
from taeda._layers.user_code import call_user, see_user_code

__all__ = [
    "AUTOCAST",
    "DUAL",
    "FLOAT32",
    "FLOAT32_ON_CUDA",
    "FUNCTION_MODE",
    "OVERRIDE",
    "TRANSFORM",
    "Snapshot",
    "autocast_increment_nesting",
    "call_autocast",
    "call_user",
    "cast_weight",
    "casts_to_float32",
    "disabled_torch_function",
    "hidden",
    "is_autocast_enabled",
    "keep_weight",
    "leave",
    "lower_type",
    "region",
    "register_layer",
    "see_user_code",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "snapshot",
    "switches",
    "watch",
]
