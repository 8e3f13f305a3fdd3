"""Which numbers share a scale."""

from __future__ import annotations

import pytest

from taeda.ao.quantization.observer import (
    Granularity,
    PerAxis,
    PerBlock,
    PerGroup,
    PerRow,
    PerTensor,
    PerToken,
    get_block_size,
)


@pytest.mark.parametrize(
    ("granularity", "block"),
    [
        (PerTensor(), (4, 6)),
        (PerAxis(0), (1, 6)),
        (PerRow(), (1, 6)),
        (PerToken(), (1, 6)),
        (PerGroup(3), (1, 3)),
        (PerBlock((2, 2)), (2, 2)),
    ],
)
def test_blocks(granularity, block):
    assert get_block_size((4, 6), granularity) == block


def test_what_is_refused():
    with pytest.raises(ValueError, match="unsupported granularity"):
        get_block_size((4, 6), Granularity())
    with pytest.raises(AssertionError, match="do not divide"):
        get_block_size((4, 6), PerGroup(4))
