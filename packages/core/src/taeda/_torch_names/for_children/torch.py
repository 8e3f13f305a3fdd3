"""What `import torch` finds in processes that a program under `python -m taeda run` starts.

`run` puts this folder on their PYTHONPATH; nothing else does. Another Python, which has no taeda, is
left to its own torch.
"""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any


def __getattr__(name: str) -> Any:
    """What the module has that takes this one's place: threads that import at once may hold this one."""
    return getattr(sys.modules[__name__], name)


del sys.modules["torch"]  # or install_as_torch would take this module for the real torch
if sys.modules.get("taeda", ...) is None or importlib.util.find_spec("taeda") is None:
    here = str(Path(__file__).parent)
    sys.path[:] = [place for place in sys.path if place != here]
    importlib.import_module("torch")
else:
    import taeda

    taeda.install_as_torch(distributed=os.environ.get("TAEDA_RUN_DISTRIBUTED") == "1")
