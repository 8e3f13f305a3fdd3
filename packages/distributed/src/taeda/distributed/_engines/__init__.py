"""Engines: what carries bytes between the ranks of a group. `base.Engine` says what each can do."""
