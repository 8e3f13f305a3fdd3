"""Messages between any two ranks, and how the connections that carry them are laid."""
