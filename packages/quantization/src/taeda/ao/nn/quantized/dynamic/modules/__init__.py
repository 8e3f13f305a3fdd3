"""Layers with weights in integers, a file for each family."""
