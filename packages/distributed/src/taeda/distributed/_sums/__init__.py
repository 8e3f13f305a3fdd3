"""Sums of all ranks: in shared memory, around a ring, between machines."""
