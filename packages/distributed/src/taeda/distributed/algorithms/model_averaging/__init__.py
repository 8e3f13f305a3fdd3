"""Averaging parameters over ranks now and then, in place of gradients in every step."""
