"""Sphinx configuration. The reference is written from the op table and from docstrings each time
the docs are built.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402 - lies beside this file, as the next
import breaks  # noqa: E402
import charts  # noqa: E402
import kinds_page  # noqa: E402
import names_page  # noqa: E402
import ops_page  # noqa: E402

project = "taeda"
author = "the taeda authors"
copyright = "2026, the taeda authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md", "reference/absent.md"]
html_theme = "furo"
html_title = "taeda"
html_static_path = ["style", "reference/static"]
html_css_files = ["narrow.css", "names.css"]
html_copy_source = False
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # words of signatures: `Tensor | number` is for people
suppress_warnings = ["ref.python"]  # `device` in a signature: there are several
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries = False  # a page's table of names is at its top

charts.write(HERE / "figures.json", HERE / "images")
ops_page.write(HERE / "reference" / "ops.md")
ops_page.write_absent(HERE / "reference" / "absent.md")
kinds_page.write(HERE / "reference" / "kinds.md")
api_pages.write(HERE / "reference" / "api")
names_page.write(HERE / "reference" / "static" / "all_names.js")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.set_translator("html", breaks.Translator)
