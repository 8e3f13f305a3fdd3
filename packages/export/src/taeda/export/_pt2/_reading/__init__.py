"""The records of an archive as an exported program.

Everything in the file is data: names are looked up in tables, formulas are parsed, and what is not
known is refused.
"""

from __future__ import annotations

from .archive import Archive
from .program import program_of

__all__ = ["Archive", "program_of"]
