"""What a state dict asks for and a checkpoint does not have, has in another form, or has besides."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

import taeda
from taeda import Tensor

from .metadata import BytesStorageMetadata

__all__ = ["check_entries", "named"]

_MOST = 100  # names whose nearest are sought: each is compared with all others


def named(names: Collection[str], others: Collection[str]) -> str:
    """All names, the first ones with the nearest among others."""
    parts = []
    for number, name in enumerate(sorted(names)):
        near = difflib.get_close_matches(name, others, 1) if number < _MOST else ()
        parts.append(f"{name!r}" + (f" (nearest: {near[0]!r})" if near else ""))
    return ", ".join(parts)


def check_entries(wanted: Mapping[str, Any], stored: Mapping[str, Any], partial: bool) -> None:
    """RuntimeError for names that are missing, unless `partial`; ValueError for what does not fit."""
    wrong = [
        fault
        for name in wanted
        if name in stored and (fault := _fault(wanted[name], stored[name], name))
    ]
    missing = [] if partial else [name for name in wanted if name not in stored]
    lines = []
    if missing:
        lines.append(
            f"Missing key in checkpoint state_dict: {named(missing, [n for n in stored if n not in wanted])}"
        )
        extra = [name for name in stored if name not in wanted]
        if extra:
            lines.append(f"the checkpoint has besides: {named(extra, missing)}")
    lines += wrong
    if lines:
        raise (RuntimeError if missing else ValueError)("; ".join(lines))


def _fault(value: Any, entry: Any, name: str) -> str | None:
    is_object = isinstance(entry, BytesStorageMetadata)
    if isinstance(value, Tensor) == is_object:
        kinds = ("no tensor", "a tensor") if is_object else ("a tensor", "no tensor")
        return f"{name} is {kinds[0]} in the checkpoint and {kinds[1]} in the state dict"
    if is_object:
        return None
    if value.is_quantized:
        return f"{name} is quantized: checkpoints hold plain tensors"
    if value.layout is not taeda.strided or value.device.type == "meta":
        return f"{name} is a tensor that cannot be filled: {value.layout}, on {value.device}"
    if value.shape != entry.size:
        return f"Size mismatch between saved {tuple(entry.size)} and current {tuple(value.shape)} for {name}"
    if value.dtype != entry.properties.dtype:
        return (
            f"{name} is {entry.properties.dtype} in the checkpoint and {value.dtype} in the state dict: "
            "load into a tensor of the stored dtype, then convert"
        )
    return None
