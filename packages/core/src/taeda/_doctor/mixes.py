"""Parts of taeda whose versions do not go together: what one of them wants of a sibling, and what is here.

pip warns of it while it installs, and that is read once; `python -m taeda` says it whenever it is asked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata

from taeda._parts.advice import NEEDS

__all__ = ["mixed"]

WANTED = re.compile(r"(taeda(?:-[a-z-]+)?)(?![a-z])(?:\[[^]]*\])?\s*\(?([^;()]*)\)?")
CLAUSE = re.compile(r"(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)")
COMPARED: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip


def mixed() -> list[str]:
    """A sentence for each sibling that a part wants in another version than the one that is here."""
    return [told for name in ("taeda", "taeda-core", *NEEDS) for told in _of(name)]


def _of(name: str) -> Iterator[str]:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    for sibling, wanted in _siblings(found.requires or ()):
        here = _version(sibling)
        if here is None or not _meets(here, wanted):
            has = "which is not installed" if here is None else f"and {here} is installed"
            yield f"{name} {found.version} wants {sibling}{wanted}, {has}"


def _siblings(requires: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(sibling, range) of what is required without a marker: extras have one."""
    for text in requires:
        head, marker, _ = text.partition(";")
        if not marker and (match := WANTED.fullmatch(head.strip())):
            yield match[1], match[2].strip()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _meets(version: str, wanted: str) -> bool:
    """Is a version in a range, as siblings write ranges? Numbers count; `.dev1` and such do not.

    >>> _meets("0.1.7", ">=0.1,<0.2"), _meets("0.2.0", ">=0.1,<0.2"), _meets("1.0", "==1.0.0")
    (True, False, True)
    """
    here = _numbers(version)
    return all(COMPARED[how](here, _numbers(than)) for how, than in CLAUSE.findall(wanted))


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at the front, without the zeros behind: 1.0 is 1.0.0."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    found = [int(part) for part in match[0].split(".")] if match else []
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
