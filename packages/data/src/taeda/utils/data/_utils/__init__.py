"""Pieces of the loader: how samples become a batch, and how they are fetched."""
