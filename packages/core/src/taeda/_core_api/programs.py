"""What records the operations of a program and runs them again: tracers above the kernels, programs of kernel calls, the state they ask."""

from __future__ import annotations

from taeda._layers import tracers
from taeda._native.core import (
    Operator,
    Program,
    _get_anomaly,
    _set_grad_enabled,
    call_backend,
    functions,
    get_default_device,
    get_default_dtype,
    get_excluded,
    get_layers,
    get_num_threads,
    is_grad_enabled,
    is_inference_mode_enabled,
    number_in,
    op_parameters,
    op_rows,
    row_flags,
    storage_key,
    unchanged,
)

__all__ = [
    "Operator",
    "Program",
    "_get_anomaly",
    "_set_grad_enabled",
    "call_backend",
    "functions",
    "get_default_device",
    "get_default_dtype",
    "get_excluded",
    "get_layers",
    "get_num_threads",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "number_in",
    "op_parameters",
    "op_rows",
    "row_flags",
    "storage_key",
    "tracers",
    "unchanged",
]
