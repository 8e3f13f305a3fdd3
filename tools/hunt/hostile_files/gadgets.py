"""Pickles that name code: sixty gadgets, each reached in every way that a pickle has."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .legacy import stream
from .tars import old_tar
from .words import call, glob, pickled, pt, tensor, text, tup

__all__ = ["files"]

GADGETS = """os system|posix system|nt system|os popen|os execv|os remove|os putenv
subprocess Popen|subprocess run|subprocess check_output|builtins eval|builtins exec
builtins compile|builtins open|builtins getattr|builtins setattr|builtins __import__
builtins globals|builtins breakpoint|builtins type|builtins object|builtins map|builtins print
__builtin__ eval|__builtin__ file|__builtin__ apply|importlib import_module|importlib reload
runpy run_path|runpy _run_code|pip main|pip._internal main|pkgutil resolve_name|functools partial
functools reduce|operator attrgetter|operator methodcaller|operator itemgetter|types FunctionType
types CodeType|marshal loads|pickle loads|pickle Unpickler|shutil rmtree|socket socket|ctypes CDLL
ctypes cast|sys exit|sys modules|code interact|pdb set_trace|timeit timeit|webbrowser open
http.client HTTPSConnection|urllib.request urlopen|asyncio run|multiprocessing Process
threading Thread|copyreg _reconstructor|copyreg __newobj__|copy_reg _reconstructor|codecs open
_codecs decode|io open|pathlib Path|tempfile mktemp|logging FileHandler|numpy load
numpy.core.multiarray fromfile|numpy memmap|numpy fromfile|torch load|torch.hub load
torch.jit load|torch.serialization load|torch._dynamo compile|torch.utils.cpp_extension load
torch.storage _load_from_bytes|torch._utils _import_dotted_name|torch.nn.modules.linear Linear
torch.Tensor apply_|torch.fx.graph_module reduce_graph_module|torch.package PackageImporter
__main__ Net|taeda load|taeda.hub load|collections deque|collections namedtuple|torch os.system
torch _utils.os.system|collections OrderedDict.fromkeys"""
ARGUMENT = "echo hostile"


def split(gadget: str) -> tuple[str, str]:
    module, _, name = gadget.partition(" ")
    return module, name


def ways(gadget: str) -> Iterator[tuple[str, Any]]:
    """(how it is reached, the object of a .pt file)."""
    module, name = split(gadget)
    found = glob(gadget)
    stacked = text(module) + text(name) + b"\x93"
    arguments = tup(ARGUMENT)
    yield "REDUCE", found + arguments + b"R"
    yield "STACK_GLOBAL", stacked + arguments + b"R"
    yield "NEWOBJ", found + arguments + b"\x81"
    yield "NEWOBJ_EX", found + arguments + b"}\x92"
    yield "INST", b"(" + text(ARGUMENT) + b"i" + f"{module}\n{name}\n".encode()
    yield "OBJ", b"(" + found + text(ARGUMENT) + b"o"
    yield "only named", found
    yield "in a list", b"]" + found + b"a"
    yield (
        "BUILD with it",
        call("collections OrderedDict") + b"}" + text("__class__") + found + b"sb",
    )
    yield "BUILD on it", found + b"}b"
    yield "factory", glob("collections defaultdict") + found + b"\x85R"
    yield "key", b"}" + found + b"Ns"
    yield "persistent id", tup("storage", found, "0", "cpu", 6) + b"Q"
    yield (
        "tensor's maker",
        call("torch._tensor _rebuild_from_type_v2", found, glob("torch Tensor"), (ARGUMENT,), {}),
    )
    yield (
        "tensor's type",
        call(
            "torch._tensor _rebuild_from_type_v2",
            glob("torch._utils _rebuild_tensor_v2"),
            found,
            (),
            {},
        ),
    )
    yield (
        "hook",
        call(
            "torch._utils _rebuild_parameter",
            tensor(),
            True,
            glob("collections OrderedDict") + b")R}" + b"K\0" + found + b"sb",
        ),
    )
    yield "after a tensor", tup(tensor(), found + arguments + b"R")
    yield "popped", found + arguments + b"R0N"
    yield "memoised", found + b"q\x00" + arguments + b"Rq\x01h\x01"
    yield (
        "storage's type",
        call("torch._utils _rebuild_tensor_v2", found, 0, (1,), (1,), False, None),
    )
    yield "numpy's dtype", call("numpy.core.multiarray _reconstruct", found, (0,), b"C\x01b")


def files() -> Iterator[tuple[str, bytes]]:
    gadgets = GADGETS.replace("\n", "|").split("|")
    for gadget in gadgets:
        yield f"{gadget} by REDUCE", pt(next(ways(gadget))[1])
    for gadget in gadgets:
        for way, body in list(ways(gadget))[1:]:
            yield f"{gadget} by {way}", pt(body)
    for gadget in gadgets[:20]:
        body = pickled(glob(gadget) + tup(ARGUMENT) + b"R")
        yield f"{gadget} in the older form", stream(body)
        yield f"{gadget} in a tar", old_tar(pickle=body)
        yield f"{gadget} in a bare pickle", body
    for code in (1, 2, 240, 255):
        yield f"extension {code}", pt(b"\x82" + bytes([code]) + b")R")
        yield f"extension {code} in two bytes", pt(b"\x83" + struct.pack("<H", code) + b")R")
        yield f"extension {code} in four bytes", pt(b"\x84" + struct.pack("<I", code) + b")R")
