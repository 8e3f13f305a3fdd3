"""What a compiler's long text comes to: sentences of our own for before it and behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

__all__ = ["ported", "refused"]

#: a refusal of the headers, in the words of GCC and of Clang
_REFUSAL = re.compile(r"error: static assertion failed(?: due to requirement '.*?')?: \"?(.+?)\"?$")
_TYPE = re.compile(
    r"(?:struct |class ')[\w:]*\b(?:Argument|Result|Out)<(.+?)(?:, void)? ?>[’']"
    r"|(?:append|write)_part\(.*T = (.+?)[\];]|(?:append|write)_part<(.+?)>'"
)
_OF_TORCH = re.compile(
    r"\b(torch|c10|pybind11)/[\w/]+\.h\b|\bATen/|[‘'](torch|at|c10|pybind11)(::\w+)?[’']"
    r"|\bTORCH_LIBRARY"
)


def refused(said: str, sources: Sequence[Path]) -> str:
    """The first sentence by which a header refused something, with the type and the line of the source
    that it is about; "" if there is none. The compiler says it behind ten lines of paths.

    Args:
        said: the compiler's text
        sources: the files that were compiled

    >>> from pathlib import Path
    >>> said = "f.hpp: In instantiation of ‘struct x::Argument<Q>’:\\n/a/m.cpp:3:26:   required from here\\n"
    >>> refused(said + "f.hpp:64:29: error: static assertion failed: it cannot be one", [Path("/a/m.cpp")])
    'm.cpp:3: it cannot be one (Q)\\n'
    """
    lines = said.splitlines()
    at = next((k for k, line in enumerate(lines) if _REFUSAL.search(line)), None)
    if at is None:
        return ""
    found = _REFUSAL.search(lines[at])
    assert found is not None
    near = [*reversed(lines[:at]), *lines[at:]]  # GCC says before it where it was, Clang behind it
    kind = next((next(filter(None, m.groups())) for line in near if (m := _TYPE.search(line))), "")
    place = _place(near, sources)
    return f"{place}{found[1]}{f' ({kind})' if kind else ''}\n"


def _place(lines: Sequence[str], sources: Sequence[Path]) -> str:
    for line in lines:
        for source in sources:
            found = re.match(re.escape(str(source)) + r":(\d+):", line)
            if found:
                return f"{source.name}:{found[1]}: "
    return ""


def ported(said: str) -> str:
    """A sentence for who brings an extension of PyTorch: the compiler only says that it does not
    know a word.

    Args:
        said: the compiler's text

    >>> ported("main.cpp:1:1: error: expected unqualified-id")
    ''
    """
    if not _OF_TORCH.search(said):
        return ""
    return (
        "\nThis was written for PyTorch's C++, of which taeda has what extensions use most "
        '(include/torch_compat), and not this. The page "Port an extension" '
        "(docs/porting-extensions.md) says what there is, and has taeda's own words side by side."
    )
