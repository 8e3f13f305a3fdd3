from collections.abc import Callable, Mapping
from typing import Any

from taeda._native import core as core

def register_rule(
    name: str,
    joint: bool,
    parts: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]],
    differentiable_results: int,
    wide: bool = ...,
    /,
) -> None: ...
