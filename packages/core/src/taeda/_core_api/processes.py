"""Ends of processes, also where the system keeps none of them."""

from taeda._process_ends import UNKNOWN, note_end

__all__ = ["UNKNOWN", "note_end"]
