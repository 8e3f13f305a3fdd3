"""What a program counts."""

from __future__ import annotations

from taeda.utils.flop_counter import FlopCounterMode


def counted(program, **settings):
    """The counter after a program."""
    with FlopCounterMode(display=False, **settings) as counter:
        program()
    return counter
