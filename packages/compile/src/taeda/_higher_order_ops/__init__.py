"""Control flow as functions: a branch, loops and scans over tensors, each with functions of the
user as its parts.

Each runs as the Python loop that it stands for, so gradients flow and `taeda.func` works through
it. The checks are those that a graph would need: what is carried keeps its structure, shapes and
dtypes, and is made anew by each step.

    cond              one of two functions, by a bool
    while_loop        a function again and again, as long as another one says so
    scan              a carried value through the slices of a tensor, and an output from each
    associative_scan  the running result of a function of two slices
    map               a function of each slice
"""

from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
