"""Utilities; this namespace is shared by several distributions, and owned by core."""

from __future__ import annotations

from pkgutil import extend_path

from taeda._parts import lazy_attributes

__path__ = extend_path(__path__, __name__)
__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        **{
            name: f"utils.{name}:"
            for name in (
                "_pytree",
                "collect_env",
                "deterministic",
                "dlpack",
                "hooks",
                "model_zoo",
                "serialization",
                "weak",
            )
        },
        "get_cpp_backtrace": "utils._backtrace",
        **dict.fromkeys(("set_module", "swap_tensors"), "utils._objects"),
        **dict.fromkeys(
            ("generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"),
            "utils.backend_registration",
        ),
    },
)
