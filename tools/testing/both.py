"""Run one script under taeda and under torch: the same text, with the one word changed.

For the parity session, the only place where torch is installed.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("TAEDA_PARITY") == "full"


def script(path: str, library: str) -> ModuleType:
    """The script at `path`, relative to the checkout, as a module written for `library`."""
    text = re.sub(r"\btaeda\b", library, (ROOT / path).read_text())
    module = ModuleType(f"{library}_{path.replace('/', '_').removesuffix('.py')}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(text, f"{path} ({library})", "exec"), module.__dict__)
    return module


def copy_state(source: Any, target: Any, from_numpy: Any) -> None:
    """Load the state of a module of one library into the same module of the other.
    Both must have the same names.
    """
    state = {name: from_numpy(value.numpy().copy()) for name, value in source.state_dict().items()}
    target.load_state_dict(state)
