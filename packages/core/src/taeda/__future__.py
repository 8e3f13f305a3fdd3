"""Ways of working that may be chosen before they are the default: what converting and loading a
module does to its parameters.
"""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]

_chosen = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to` and its like put new parameters into the module, instead of new memory
    into the old ones.
    """
    _chosen["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions put new parameters into a module; False unless set."""
    return _chosen["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to` and its like, and `load_state_dict`, exchange parameters by
    `swap_tensors`; comes before overwriting.

    Loading then asks `parameter.module_load(value)` what to exchange it with.
    """
    _chosen["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether parameters are exchanged; False unless set."""
    return _chosen["swap"]
