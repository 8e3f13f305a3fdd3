"""What a user of a public library does with it, a file for each: `python tools/try/libraries.py` runs them.

A check is a function whose name has no `_` before it. It raises where something is wrong, and may return
numbers, which are compared with PyTorch's.
"""
