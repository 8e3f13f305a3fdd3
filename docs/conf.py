"""Sphinx configuration. The page of operations is written from the op table each time the docs are built."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import ops_page  # noqa: E402 - lies beside this file

project = "taeda"
author = "the taeda authors"
copyright = "2026, the taeda authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md"]
html_theme = "furo"
html_title = "taeda"
html_copy_source = False
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nitpicky = True

ops_page.write(HERE / "reference" / "ops.md")
