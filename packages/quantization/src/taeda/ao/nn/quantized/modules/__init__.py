"""Layers on integers, a file for each family."""
