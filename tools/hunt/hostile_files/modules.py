"""Whole modules in files: classes that nobody allowed, and states that are none, of classes that
somebody did.

The reader has allowed `ALLOWED`, as a program does that loads whole models of its own.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from .gadgets import ARGUMENT, GADGETS, split
from .safetensors import plain
from .words import glob, pt, tup, word

__all__ = ["ALLOWED", "files", "good"]

ALLOWED = ("Linear", "Sequential", "BatchNorm1d", "LSTM")
LINEAR, SEQUENTIAL = "taeda.nn.modules.linear.Linear", "taeda.nn.modules.container.Sequential"
TABLES = ("_parameters", "_buffers", "_modules")
STRANGERS = [name for name in GADGETS.replace("\n", "|").split("|") if "Linear" not in name]
#: what a walk along dots would reach from allowed names
NEARBY = """taeda.nn.modules.linear.Linear.__init__|taeda.nn.modules.linear.Linear.__class__
taeda.nn.modules.linear.Linear.forward|taeda.nn.modules.linear.Linear.__subclasses__
taeda.nn.modules.linear.math|taeda.nn.modules.linear.taeda.save|taeda.nn.modules.module|taeda.nn
taeda.nn.modules.linear.|.Linear|Linear|taeda.nn.modules.linear.linear
taeda.nn.modules.linear.Linear\0|taeda.nn.Module|taeda.hub.load
taeda.utils.cpp_extension.load_inline|taeda.utils.data.DataLoader|taeda.optim.SGD
torch.nn.modules.linear.Linear.__init__|builtins.object|builtins.type|""".replace("\n", "|").split(
    "|"
)


def good() -> list[bytes]:
    """Whole modules as `save` writes them, in our form and in torch's."""
    import taeda
    from taeda import nn

    models: list[Callable[[], Any]] = [
        lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)),
        lambda: {"net": nn.LSTM(2, 2), "epoch": 3},
    ]
    made = []
    for form in ("taeda", "pt"):
        for model in models:
            file = io.BytesIO()
            taeda.save(model(), file, **({} if form == "taeda" else {"format": form}))
            made.append(file.getvalue())
    return made


def empty(**changes: Any) -> dict[str, Any]:
    """The tree of a module's state that has no members."""
    state = {
        "training": True,
        **{table: {"dict": []} for table in TABLES},
        "_non_persistent_buffers_set": {"set": []},
    }
    return {"dict": [[name, value] for name, value in (state | changes).items() if value != "-"]}


def tree(value: Any) -> bytes:
    """A file of ours with this tree, no tensor, and the right checksum: what it says is looked at."""
    from taeda._native import core

    text = value if isinstance(value, str) else json.dumps(value)
    told = {"format": "taeda", "taeda.version": "1", "taeda.tree": text, "taeda.tensors": "[]"}
    header = {"__metadata__": told | {"taeda.crc32c": "", "taeda.header_crc32c": "0" * 8}}
    blank = json.dumps(header, separators=(",", ":")).encode()
    before, after = blank.rsplit(b"0" * 8, 1)
    return plain(before + f"{core.crc32c(blank):08x}".encode() + after, b"")


def states() -> Iterator[tuple[str, Any]]:
    """(what is wrong, the tree of what stands where a module's state should)."""
    for name, value in {"a number": 5, "nothing": None, "a text": "x", "a list": [],
        "a tuple": {"tuple": []}}.items():  # fmt: skip
        yield f"the state is {name}", value
    yield "a state without anything", {"dict": []}
    for table in TABLES:
        yield f"no {table}", empty(**{table: "-"})
        for name, value in {"a number": 5, "a list": [], "a text": "x", "nothing": None}.items():
            yield f"{table} is {name}", empty(**{table: value})
    for key in (5, None, {"tuple": [1]}):
        yield f"an attribute named {key}", {"dict": [*empty()["dict"], [key, 1]]}


def ours() -> Iterator[tuple[str, bytes]]:
    for gadget in STRANGERS:
        name = ".".join(split(gadget))
        yield f"a {name}", tree({"object": [name, empty()]})
        yield f"{name} named", tree({"name": name})
        inside = empty(_modules={"dict": [["0", {"object": [name, ARGUMENT]}]]})
        yield f"{name} within an allowed class", tree({"object": [SEQUENTIAL, inside]})
        yield f"{name} as forward", tree({"object": [LINEAR, empty(forward={"name": name})]})
    for name in NEARBY:
        yield f"a {name!r}", tree({"object": [name, empty()]})
    for wrong, state in states():
        yield wrong, tree({"object": [LINEAR, state]})
    for name, value in {
        "no state": [LINEAR], "three parts": [LINEAR, empty(), 1], "a name that is a number": [5, empty()],
        "a name that is a list": [[LINEAR], empty()], "nothing": [], "no list": LINEAR,
    }.items():  # fmt: skip
        yield f"an object with {name}", tree({"object": value})
    for count in (2_000, 50_000):
        nested = f'{{"object":["{SEQUENTIAL}",{{"dict":[["_modules",{{"dict":[["0",'
        yield f"{count} modules, one in another", tree(nested * count + "1" + "]]}]]}]}" * count)
        yield f"{count} that do not end", tree(nested * count)


def torchs() -> Iterator[tuple[str, bytes]]:
    """The same in torch's form: NEWOBJ and BUILD."""
    linear = glob("torch.nn.modules.linear Linear")
    tables = word({"training": True, **{table: {} for table in TABLES}})
    for gadget in STRANGERS:
        yield f"a {gadget} built", pt(glob(gadget) + b")\x81" + tables + b"b")
        hooks = word({"_forward_hooks": {0: glob(gadget)}})
        yield f"{gadget} as hook", pt(linear + b")\x81" + hooks + b"b")
    for name, state in {"a number": 5, "a list": [1], "nothing": None, "a text": "x"}.items():
        yield f"a built Linear whose state is {name}", pt(linear + b")\x81" + word(state) + b"b")
    for table in TABLES:
        others = {other: {} for other in TABLES if other != table}
        yield f"a built Linear without {table}", pt(linear + b")\x81" + word(others) + b"b")
    lstm = glob("torch.nn.modules.rnn LSTM") + b")\x81"
    for layers in (0, -1, 1, 10**9, 2**62, "2", None, 1.0, [1]):
        state = {**{table: {} for table in TABLES}, "_is_full_backward_hook": None}
        more = {"bidirectional": False, "num_layers": layers}
        yield f"an LSTM of {layers} layers", pt(lstm + word(state | more) + b"b")
    yield "a Linear called", pt(linear + tup(2, 2) + b"R")
    yield (
        "a Linear made with arguments",
        pt(linear + tup(1 << 40, 1 << 40) + b"\x81" + tables + b"b"),
    )


def files() -> Iterator[tuple[str, bytes]]:
    """Ours and torch's in turn, so that the first ones are of both."""
    mine, others = list(ours()), [(f"torch: {name}", data) for name, data in torchs()]
    share = len(mine) // len(others) + 1
    for number, other in enumerate(others):
        yield from mine[number * share : (number + 1) * share]
        yield other
    yield from mine[len(others) * share :]
