"""What the sibling packages may use of core beyond its public names.
There is no other way in: `tools/packages.py check` refuses it.

    warn, advice, lazy_attributes    how a package speaks, and how it loads its parts
    runtime      the compiled core: graph, tangents, layers, storages
    calls        who sees a call: layers, what hides them, autocast
    operators    the operators of nn
    chains       chains of elementwise operators that were compiled as one, and from what text
    programs     what records operations, and runs them again
    families     a folder of rules, whose modules are imported together
    layouts      what rules of sparse, nested, masked and quantized tensors are written with
    quantization how a range of numbers becomes a scale and a zero point
    table        the op table: rows, schemas, the functions behind composites
    doors        where public functions written in Python ask overrides
    names        how text shows names of the library
    foreign      objects of PyTorch itself among the arguments of a call
    files        a file that is replaced whole or not at all, classes whose objects files hold
    sharing      memory that several processes see
    forks        locks that a fork waits for
    processes    how processes ended
    building     compilers, and kernels built by them
    trees        tuples, lists and dicts of values, taken apart and put together

Siblings are released apart from core, so these names are a promise as the public ones are: they are
added, and one that goes is announced in the changelog (`abi`) and stays for a minor version.
Operators that begin with an underscore (`taeda._fused_adam_`) are rows of the table and need no
line here.
"""

from __future__ import annotations

from taeda._parts import lazy_attributes
from taeda._parts.advice import advice
from taeda._warnings import warn

__all__ = ["advice", "lazy_attributes", "warn"]
