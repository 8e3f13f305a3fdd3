"""Layers that were joined, in float."""
