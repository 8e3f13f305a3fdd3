"""Where the compiled runtime lies (`_core`).

TAEDA_NATIVE names another folder to look in first: the sanitizer session keeps its library apart there.
"""

from __future__ import annotations

import os

if _folder := os.environ.get("TAEDA_NATIVE"):
    __path__.insert(0, _folder)
