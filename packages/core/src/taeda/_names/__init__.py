"""Names of dimensions: what they are, how a call carries them on, and calls that are given names.

A named tensor is a strided tensor of the type `Tensor` whose object holds a tuple of names
(`core.names_of`). The calls themselves never see it: `csrc/dispatch/run_named.c` asks the rules here
before and after a call.
"""

from __future__ import annotations

from .align import align_to
from .changes import refine_names, rename
from .dims import checked, names_of, place

__all__ = ["align_to", "checked", "names_of", "place", "refine_names", "rename"]
