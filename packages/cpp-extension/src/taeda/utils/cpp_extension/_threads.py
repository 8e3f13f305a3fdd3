"""Whether sources start threads of their own: then they are compiled for threads (`-pthread`), and functions
of the library run without Python's lock, which such a thread takes for each operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["starts_threads"]

_STARTS = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(thread|future|execution|pthread\.h)>", re.M)
_OWN = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">]", re.M)


def starts_threads(sources: Iterable[Path], folders: Iterable[str]) -> bool:
    """Whether a source, or a header of the project that it reads, includes what starts threads.

    >>> starts_threads([], [])
    False
    """
    places = [Path(folder) for folder in folders]
    waiting, seen = list(sources), set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(errors="replace")
        if _STARTS.search(text):
            return True
        near = [path.parent, *places]
        waiting += [(folder / name).resolve() for name in _OWN.findall(text) for folder in near]
    return False
