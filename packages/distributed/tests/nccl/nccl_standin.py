"""Ranks on the stand-ins for the driver and for NCCL, which is built once into the checkout's build
folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ranks import Ended, run_ranks

HERE = Path(__file__).resolve().parent
CORE = HERE.parents[2] / "core"
sys.path.insert(0, str(CORE / "tests" / "cuda"))
import standin  # noqa: E402 - core's stand-in for the driver, found through the line above


def settings(**more: str) -> dict[str, str]:
    """What a rank finds in its environment."""
    names = (
        "TAEDA_LIBCUDA",
        "TAEDA_LIBNVRTC",
        "TAEDA_NULL_FOLDER",
        "TAEDA_NULL_COMPILE",
        "TAEDA_CACHE_DIR",
    )
    cuda = standin.environment()
    return {**{name: cuda[name] for name in names}, "TAEDA_LIBNCCL": str(_library()), **more}


def _library() -> Path:
    from taeda._build import cc

    standin.BUILD.mkdir(parents=True, exist_ok=True)
    flags = ("-O1", "-fPIC", "-std=gnu11", "-fvisibility=hidden")
    unit = cc.Unit(HERE / "libnccl_null.c")
    into = standin.BUILD / "libnccl_null.so"
    return cc.build([unit], into, standin.BUILD, flags, ("-ldl",))


def run(code: str, size: int = 2, timeout: float = 120, **more: str) -> list[Ended]:
    """Run `code` on every rank."""
    return run_ranks(code, size, timeout, **settings(**more))
