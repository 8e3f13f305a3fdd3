"""What records the operations of a program and runs them again: tracers above the kernels, programs
of kernel calls, the state they ask.
"""

from __future__ import annotations

from taeda._layers import TRACE, hidden, tracers
from taeda._layers.dispatch import call_control, call_outwards, note_made
from taeda._library.operators import schema_of
from taeda._native.core import (
    Operator,
    Program,
    _get_anomaly,
    _set_grad_enabled,
    age_of,
    call_backend,
    functions,
    get_default_device,
    get_default_dtype,
    get_excluded,
    get_layers,
    get_num_threads,
    gradient_count,
    has_saved_hooks,
    is_grad_enabled,
    is_inference_mode_enabled,
    next_age,
    number_in,
    op_parameters,
    op_rows,
    row_flags,
    stopped_at,
    storage_key,
    unchanged,
    version_key,
)

__all__ = [
    "TRACE",
    "Operator",
    "Program",
    "_get_anomaly",
    "_set_grad_enabled",
    "age_of",
    "call_backend",
    "call_control",
    "call_outwards",
    "functions",
    "get_default_device",
    "get_default_dtype",
    "get_excluded",
    "get_layers",
    "get_num_threads",
    "gradient_count",
    "has_saved_hooks",
    "hidden",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "next_age",
    "note_made",
    "number_in",
    "op_parameters",
    "op_rows",
    "row_flags",
    "schema_of",
    "stopped_at",
    "storage_key",
    "tracers",
    "unchanged",
    "version_key",
]
