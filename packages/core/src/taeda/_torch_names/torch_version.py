"""A version as text that compares as a version: `torch.__version__` where taeda stands in for torch."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["TorchVersion"]

#: a version as PEP 440 has it, with the spellings that it takes for the same
_TEXT = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<stage_number>\d*))?"
    r"(?P<post>-(?P<bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_STAGES = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc"}
_BEFORE: tuple[Any, ...] = (0,)
_AFTER: tuple[Any, ...] = (2,)


def _key(text: str) -> tuple[Any, ...] | None:
    """What orders versions, development before alpha, release and post-release; None for other text."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while len(release) > 1 and not release[-1]:
        release.pop()
    stage: tuple[Any, ...] = _AFTER
    if found["stage"]:
        word = found["stage"].lower()
        stage = (1, _STAGES.get(word, word), int(found["stage_number"] or 0))
    elif found["dev"] and not found["post"]:
        stage = _BEFORE
    post = (1, int(found["bare"] or found["post_number"] or 0)) if found["post"] else _BEFORE
    dev = (1, int(found["dev_number"] or 0)) if found["dev"] else _AFTER
    return int(found["epoch"] or 0), release, stage, post, dev, _local(found["local"])


def _local(text: str | None) -> list[Any]:
    """The parts behind a plus sign: numbers come after words, and none at all comes first."""
    parts = re.split(r"[-_.]", text.lower()) if text else []
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


class TorchVersion(str):
    """A version that compares by its parts with text, tuples and lists of them; with text that is no
    version it compares as text.

    >>> from taeda._torch_names.torch_version import TorchVersion
    >>> TorchVersion("2.13.0") > "2.2", TorchVersion("2.13.0") >= (2, 13), "2.13.0" > "2.2"
    (True, True, False)
    """

    def _compare(self, other: Any, compare: Callable[[Any, Any], bool], as_text: Any) -> Any:
        told = other
        if not isinstance(other, str) and isinstance(other, Iterable):
            told = ".".join(map(str, other))
        keys = _key(self), _key(told) if isinstance(told, str) else None
        if keys[0] is None or keys[1] is None:
            return as_text(self, other)
        return compare(*keys)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt, str.__lt__)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le, str.__le__)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt, str.__gt__)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge, str.__ge__)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq, str.__eq__)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne, str.__ne__)

    __hash__ = str.__hash__
