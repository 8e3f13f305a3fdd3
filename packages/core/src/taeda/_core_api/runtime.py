"""The compiled core, as far as siblings use it: the graph and its walk, tangents, the flags of this thread, storages, memory."""

from __future__ import annotations

# ruff: isort: off - grouped by what they are for
from taeda._native.core import (
    # the graph
    Node,
    # modes of this thread
    _set_anomaly,
    _set_grad_enabled,
    _set_inference_mode,
    _set_saved_hooks,
    backward_task,
    # the op table
    call_op,
    check_inplace,
    # forward mode
    enter_dual_level,
    exit_dual_level,
    functions,
    # the layers of this thread
    get_excluded,
    get_layers,
    get_tangent,
    gradient_edge,
    has_rule,
    is_forward_on,
    # libraries of others, types of others
    load_extension,
    # storages
    map_storage,
    # memory and measuring
    measured_region,
    memory_reset_peak,
    memory_stats,
    on_storage,
    op_parameters,
    op_rows,
    promote,
    python_node,
    queue_callback,
    rebase_history,
    register_parameter_type,
    register_rule,
    rules_loading,
    run_backward,
    save_for_node,
    set_apart,
    set_excluded_flag,
    set_history,
    set_layer_flag,
    set_output_meta,
    set_tangent,
    storage_address,
    storage_owners,
    takes_part,
    tangent_base,
    unpack_saved,
)  # fmt: skip

# ruff: isort: on

__all__ = [
    "Node", "_set_anomaly", "_set_grad_enabled", "_set_inference_mode", "_set_saved_hooks", "backward_task", "call_op", "check_inplace",
    "enter_dual_level", "exit_dual_level", "functions", "get_excluded", "get_layers", "get_tangent", "gradient_edge", "has_rule",
    "is_forward_on", "load_extension", "map_storage", "measured_region", "memory_reset_peak", "memory_stats", "on_storage", "op_parameters",
    "op_rows", "promote", "python_node", "queue_callback", "rebase_history", "register_parameter_type", "register_rule", "rules_loading",
    "run_backward", "save_for_node", "set_apart", "set_excluded_flag", "set_history", "set_layer_flag", "set_output_meta", "set_tangent",
    "storage_address", "storage_owners", "takes_part", "tangent_base", "unpack_saved",
]  # fmt: skip
