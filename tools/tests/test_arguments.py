"""The tool that counts descriptions of arguments finds what is missing, and no more."""

import by_path
import pytest

arguments = by_path.load("tools/hold/arguments.py")


def whole(first, second=2, *args, **kwargs):
    """Do it.

    Args:
        first: what comes first;
            note: a line that goes on is no entry.
        second: what comes then (default: 2)

    The end: no entry.
    """


def half(first, other, note):
    """Do it.

    Args:
        first, other: two at once
    """


def none(first):
    """A function of `first`."""


class Made:
    """A class.

    Args:
        size: how large
    """

    def __init__(self, size, width):
        """Make one.

        Args:
            width: how wide
        """


@pytest.mark.parametrize(
    ("value", "found"),
    [(whole, ([], 2)), (half, (["note"], 3)), (none, (["first"], 1)), (Made, ([], 2))],
)
def test_entries_are_found_and_missed(value, found):
    assert arguments.undescribed(value) == found


def test_a_share_is_of_all():
    assert arguments.Count(1, 4).share == 25
    assert arguments.Count(0, 0).share == 100


def test_members_of_enumerations_and_errors_are_not_called():
    assert arguments.excused("Color", arguments.enum.Enum("Color", "RED"))
    assert arguments.excused("Wrong", type("Wrong", (ValueError,), {}))
    assert arguments.excused("FloatStorage", type("FloatStorage", (), {}))
    assert not arguments.excused("Linear", Made)
