"""Reads, stores and calls of a recorded run, by kind."""
