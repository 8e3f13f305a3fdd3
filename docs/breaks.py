"""Where a name in code may go on in the next line: behind its dots and underscores, in a table."""

from __future__ import annotations

import re
from typing import Any

from sphinx.writers.html5 import HTML5Translator

__all__ = ["Translator"]

_ENDS = re.compile(r"(?<=\w[._/])(?=\w)")


class Translator(HTML5Translator):
    """Sphinx's own, with places to break in cells of tables: there a column is often narrower than a name."""

    def visit_Text(self, node: Any) -> None:  # noqa: N802 - named by docutils
        """A text; within code each word stands in a span of its own."""
        start = len(self.body)
        super().visit_Text(node)
        if self.protect_literal_text and _in_table(node):
            self.body[start:] = [_ENDS.sub("<wbr>", part) for part in self.body[start:]]


def _in_table(node: Any) -> bool:
    """Whether a cell is around the text."""
    around = node.parent
    while around is not None and around.tagname != "entry":
        around = around.parent
    return around is not None
