"""Elementwise programs written as text, which taeda does not take: every call raises."""

from __future__ import annotations

from ._refused import refused

__all__: list[str] = []

_WAY = (
    "Elementwise programs of text are not taken: compile a function (taeda.compile), whose chains become one "
    "kernel, or write a custom operator (taeda.utils.cpp_extension)."
)

_create_jit_fn = refused(f"{__name__}._create_jit_fn", _WAY)
_create_multi_output_jit_fn = refused(f"{__name__}._create_multi_output_jit_fn", _WAY)
