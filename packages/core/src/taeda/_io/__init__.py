"""Files: writing them whole or not at all, and the layout of checkpoints."""
