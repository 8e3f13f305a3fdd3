"""Last words: they survive the way to others, who raise the same kind of error."""

from __future__ import annotations

import pytest

from taeda import distributed as dist
from taeda.distributed._meeting.words import LastWords, follow


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("a | b"), dist.DistTimeoutError("late", [1, 12]), OSError()]
)
def test_words_survive_the_way(error):
    words = LastWords.of(error)
    assert LastWords.unpack(words.pack()) == words
    assert words.kind == type(error).__name__ and str(error) in words.text


def test_a_thousand_ranks_leave_room_for_the_text():
    words = LastWords.of(dist.DistTimeoutError("late", list(range(1000))))
    assert len(words.pack()) < 400 and LastWords.unpack(words.pack()).text.endswith("late")


def test_who_follows_raises_what_was_raised_and_names_the_same_ranks():
    late = LastWords.of(dist.DistTimeoutError("late", [2]))
    died = LastWords.of(dist.DistPeerDiedError("died", [3]))
    other = LastWords.of(ZeroDivisionError("no"))
    error = follow("m", [late, other], [0, 1])
    assert type(error) is dist.DistTimeoutError and error.ranks == [2] and str(error) == "m"
    error = follow("m", [late, died], [0, 1])
    assert type(error) is dist.DistPeerDiedError and error.ranks == [3]
    assert type(follow("m", [other], [0])) is dist.DistBackendError
    assert follow("m", [LastWords("DistPeerDiedError", (), "x")], [5]).ranks == [5]
