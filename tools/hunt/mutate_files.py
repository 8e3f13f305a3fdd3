"""Changes to good files that keep their outer form: what is changed lies behind the first checks.
Used by fuzz_files.py.

A file is taken apart (words of a pickle, records of a zip, fields of a header), a few parts are
changed, and it is put together again with lengths and checksums that are right, or now and then are
not. All depends on `random` alone.
"""

from __future__ import annotations

import io
import json
import pickletools
import re
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import kind_files
from hostile_files import ggufs, legacy, modules, npys, programs, safetensors, tars, words

import taeda
from taeda._native import core

__all__ = ["FORMS", "mutant"]

ROOT = Path(__file__).parents[2]
FILES = ROOT / "packages/core/tests/_io/pt/files"
NUMBERS = (0, 1, 2, 7, 63, 64, 65, 127, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1,
    2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
NAMES = """torch._utils _rebuild_tensor_v2|torch._utils _rebuild_tensor_v3
torch._utils _rebuild_parameter|torch Size|torch device
torch._utils _rebuild_meta_tensor_no_storage|torch._tensor _rebuild_from_type_v2|torch Tensor
torch FloatStorage|torch LongStorage|torch.storage UntypedStorage|torch float32|torch bool
torch complex128|collections OrderedDict|collections Counter|collections defaultdict
__builtin__ set|__builtin__ complex|__builtin__ list|_codecs encode|numpy dtype|numpy ndarray
numpy._core.multiarray scalar|numpy._core.multiarray _reconstruct|numpy._core.numeric _frombuffer
os system""".replace("\n", "|").split("|")
PLAIN_WORDS = [
    b"N",
    b"\x88",
    b"\x89",
    b"K\x00",
    b"K\x02",
    b"]",
    b"}",
    b")",
    b"\x8f",
    b"(",
    b"G" + bytes(8),
    b"C\x01a",
]
ACTIONS = [b"R", b"b", b"a", b"e", b"s", b"u", b"t", b"\x85", b"\x86", b"\x87", b"\x81", b"\x90",
    b"\x91", b"\x93", b"0", b"1", b"l", b"Q", b"q\x00", b"h\x00", b"h\x05", b"\x94"]  # fmt: skip


def mutant(form: str, random: Random) -> bytes:
    """A changed file of one form."""
    seeds, change = FORMS[form]
    data = change(random.choice(seeds()), random)
    return rough(data, random) if random.random() < 0.1 else data


def rough(data: bytes, random: Random) -> bytes:
    """Bytes flipped, cut, repeated or overwritten, wherever they are."""
    out = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(out) + 1)
        match random.randrange(5):
            case 0 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 1:
                del out[at:]
            case 2:
                out[at:at] = out[at : at + random.randint(1, 64)]
            case 3:
                del out[at : at + random.randint(1, 16)]
            case _:
                overwrite(out, at, random)
    return bytes(out)


def overwrite(out: bytearray, at: int, random: Random) -> None:
    size = random.choice((1, 2, 4, 8))
    value = random.choice(NUMBERS) % (1 << 8 * size)
    out[at : at + size] = value.to_bytes(size, "little")


# ---- pickles ----


def split_pickle(data: bytes) -> list[bytes]:
    """The words of a pickle, without its first and last."""
    places = [place for _, _, place in pickletools.genops(data)]
    return [data[a:b] for a, b in zip(places, [*places[1:], len(data)], strict=True)][1:-1]


def change_pickle(data: bytes, random: Random) -> bytes:
    parts = split_pickle(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at = random.randrange(len(parts) + 1)
        match random.randrange(7):
            case 0:
                del parts[at : at + random.choice((1, 1, 2, 5))]
            case 1:
                parts[at:at] = parts[at : at + random.choice((1, 2, 8, 30))]
            case 2:
                parts.insert(at, new_word(random))
            case 3 if at < len(parts):
                parts[at] = new_word(random)
            case 4 if at < len(parts):
                parts[at] = parts[random.randrange(len(parts))]
            case 5 if at < len(parts):
                parts[at] = other_argument(parts[at], random)
            case _:
                other = random.randrange(len(parts) + 1)
                a, b = sorted((at, other))
                parts[a:b] = (
                    reversed(parts[a:b])
                    if random.random() < 0.1
                    else parts[b - 1 : b] + parts[a : b - 1]
                )
        if not parts:
            break
    return b"\x80" + bytes([random.choice((2, 2, 3, 4, 5))]) + b"".join(parts) + b"."


def new_word(random: Random) -> bytes:
    kind = random.randrange(6)
    if kind == 0:
        return words.glob(random.choice(NAMES))
    if kind == 1:
        return words.word(random.choice((1, -1)) * random.choice(NUMBERS))
    if kind == 2:
        return words.text(
            random.choice(("", "0", "1", "cpu", "meta", "cuda:0", "storage", "conj", "latin1", "é"))
        )
    return random.choice(PLAIN_WORDS if kind < 5 else ACTIONS)


def other_argument(word: bytes, random: Random) -> bytes:
    """The same instruction with another number or text."""
    if word[:1] in (b"K", b"M", b"J", b"\x8a"):
        return words.word(random.choice(NUMBERS) - random.choice((0, 0, 2**63)))
    if word[:1] == b"c":
        return words.glob(random.choice(NAMES))
    return rough(word, random) if len(word) > 1 else new_word(random)


# ---- torch's forms ----


def change_zip(data: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    entries = [words.Entry(name, content) for name, content in records.items()]
    if random.random() < 0.75:
        entry = next(entry for entry in entries if str(entry.name).endswith("data.pkl"))
        entry.data = change_pickle(entry.data, random)
    for _ in range(random.choice((0, 0, 1, 2))):
        change_entry(entries, random)
    end = (
        {random.choice(("disk", "here", "count", "size", "at")): random.choice(NUMBERS) % 65536}
        if random.random() < 0.05
        else {}
    )
    return words.archive(entries, **end)


def change_entry(entries: list[words.Entry], random: Random) -> None:
    at = random.randrange(len(entries))
    entry = entries[at]
    match random.randrange(6):
        case 0:
            entries.append(words.Entry(random.choice(entries).name, random.choice(entries).data))
        case 1 if len(entries) > 1:
            del entries[at]
        case 2:
            entry.name = rough(
                entry.name.encode() if isinstance(entry.name, str) else entry.name, random
            )[:60_000]
        case 3 if entry.data:
            entry.data = rough(entry.data, random)
        case 4:
            random.shuffle(entries)
        case _:
            field = random.choice(("flags", "method", "crc", "size", "nbytes", "extra"))
            value = (
                bytes(random.randrange(256) for _ in range(random.randrange(20)))
                if field == "extra"
                else random.choice(NUMBERS) % 65536
            )
            for lies in (entry.local, entry.central)[: random.choice((1, 2))]:
                lies[field] = value


def change_stream(data: bytes, random: Random) -> bytes:
    """Four pickles, the keys, and the storages."""
    parts, at = [], 0
    for _ in range(5):
        end = at + [place for _, _, place in pickletools.genops(data[at:])][-1] + 1
        parts.append(data[at:end])
        at = end
    changed = random.choice((3, 3, 3, 3, 4, 2))
    parts[changed] = change_pickle(parts[changed], random)
    rest = rough(data[at:], random) if random.random() < 0.2 and at < len(data) else data[at:]
    return b"".join(parts) + rest


def change_tar(data: bytes, random: Random) -> bytes:
    parts = {
        "pickle": words.pickled("2").replace(b".", b"Q."),
        "tensors": tars.tensors(),
        "storages": tars.storages(),
    }
    for name in random.sample(list(parts), random.choice((1, 1, 2))):
        parts[name] = (
            change_pickle(parts[name], random) if name == "pickle" else rough(parts[name], random)
        )
    return tars.old_tar(**parts)


# ---- the others ----


def change_npy(data: bytes, random: Random) -> bytes:
    """The words of the header, and its length made right."""
    begin = data.index(b"{")
    size = int.from_bytes(data[8:10], "little")
    text = data[begin : 10 + size].decode("latin-1")
    tokens = re.findall(r"\d+|\w+|\s+|.", text)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(tokens))
        tokens[at] = random.choice(
            (
                str(random.choice(NUMBERS)),
                "-",
                ",",
                "(",
                ")",
                "'",
                "<f8",
                ">c16",
                "|O",
                "True",
                "",
                tokens[at] * 2,
            )
        )
    header = "".join(tokens).encode("latin-1")[:60_000]
    return data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :]


def change_npz(data: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [words.Entry(name, archive.read(name)) for name in archive.namelist()]
    entry = random.choice(entries)
    entry.data = change_npy(entry.data, random)
    if random.random() < 0.3:
        change_entry(entries, random)
    return words.archive(entries)


def change_gguf(data: bytes, random: Random) -> bytes:
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        overwrite(out, random.randrange(len(out)), random)
    return bytes(out)


def change_json(value: Any, random: Random) -> Any:
    """One place in nested lists and dicts, changed."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        if random.random() < 0.1:
            return {k: v for k, v in value.items() if k != key} | {
                random.choice(("", "x", key * 2)): value[key]
            }
        return value | {key: change_json(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        rest = [value[at]] * random.choice((0, 0, 1))
        return [*value[:at], change_json(value[at], random), *rest, *value[at + 1 :]]
    if isinstance(value, str) and value[:1] in "[{" and value:
        try:
            return json.dumps(change_json(json.loads(value), random))
        except ValueError:
            return value[:-1]
    return random.choice(
        (
            None,
            True,
            0,
            1,
            -1,
            1.5,
            "",
            "x",
            [],
            {},
            [[]],
            {"tensor": 0},
            *NUMBERS,
            [value],
            [value] * 2,
        )
    )


def change_safetensors(data: bytes, random: Random) -> bytes:
    size = int.from_bytes(data[:8], "little")
    document = json.loads(data[8 : 8 + size])
    for _ in range(random.choice((1, 1, 2))):
        document = change_json(document, random)
    text = json.dumps(document, separators=(",", ":")).encode()  # as `save` writes it
    return struct.pack("<Q", len(text)) + with_right_sum(text) + data[8 + size :]


def change_module(data: bytes, random: Random) -> bytes:
    """Places of the tree, which holds the modules' states; now and then of the whole header."""
    if random.random() < 0.1:
        return change_safetensors(data, random)
    size = int.from_bytes(data[:8], "little")
    document = json.loads(data[8 : 8 + size])
    tree = json.loads(document["__metadata__"]["taeda.tree"])
    for _ in range(random.choice((1, 1, 2, 4))):
        tree = change_json(tree, random)
    document["__metadata__"]["taeda.tree"] = json.dumps(tree)
    text = json.dumps(document, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + with_right_sum(text) + data[8 + size :]


def change_program(data: bytes, random: Random) -> bytes:
    """Places of the model or of what describes its weights; now and then records."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [words.Entry(name, archive.read(name)) for name in archive.namelist()]
    documents = [e for e in entries if str(e.name).endswith(".json")]
    entry = next(e for e in entries if "models/" in str(e.name))
    if random.random() < 0.2:
        entry = random.choice(documents)
    document = json.loads(entry.data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        document = change_json(document, random)
    entry.data = json.dumps(document).encode()
    if random.random() < 0.1:
        change_entry(entries, random)
    return words.archive(entries)


def change_kind(data: bytes, random: Random) -> bytes:
    """What the file says of a kind of tensor; or the numbers that the tensor is made of."""
    return (
        kind_files.broken("taeda", random) if random.random() < 0.4 else change_module(data, random)
    )


def change_kind_zip(data: bytes, random: Random) -> bytes:
    return kind_files.broken("pt", random) if random.random() < 0.4 else change_zip(data, random)


def with_right_sum(text: bytes) -> bytes:
    """The header with its checksum made right, so that what it says is looked at."""
    found = re.search(rb'"taeda.header_crc32c": ?"([0-9a-f]{8})"', text)
    if not found:
        return text
    begin, end = found.span(1)
    blank = text[:begin] + b"0" * 8 + text[end:]
    return blank[:begin] + f"{core.crc32c(blank):08x}".encode() + blank[end:]


# ---- good files ----


def torch_zips() -> list[bytes]:
    return [
        words.pt(words.tensor()),
        *(path.read_bytes() for path in sorted(FILES.glob("*-*.pt")) if "legacy" not in path.name),
    ]


def torch_streams() -> list[bytes]:
    return [legacy.stream(), *(path.read_bytes() for path in sorted(FILES.glob("*-legacy.pt")))]


def own_files() -> list[bytes]:
    shared = taeda.arange(6.0)
    values = [
        {"a": shared, "b": shared[1:], "c": taeda.ones(2, requires_grad=True)},
        [1, (2.5, None, {"x"}), b"ab", taeda.tensor(1j).conj()],
    ]
    made = []
    for value in values:
        file = io.BytesIO()
        taeda.save(value, file)
        made.append(file.getvalue())
    return [*made, safetensors.plain({"w": safetensors.W})]


def npz() -> list[bytes]:
    return [
        words.archive(
            [words.Entry("a.npy", npys.npy(npys.GOOD)), words.Entry("b.npy", npys.npy(npys.GOOD))]
        )
    ]


def gguf() -> list[bytes]:
    facts = (
        ggufs.fact(ggufs.TEXT, ggufs.text("llama")),
        ggufs.fact(ggufs.ARRAY, struct.pack("<IQ3I", ggufs.U32, 3, 1, 2, 3), "y"),
    )
    return [
        ggufs.gguf(),
        ggufs.gguf((ggufs.entry(), ggufs.entry("v", offset=32)), facts, bytes(56)),
    ]


def once(make: Callable[[], list[bytes]]) -> Callable[[], list[bytes]]:
    kept: list[bytes] = []

    def given() -> list[bytes]:
        kept.extend(() if kept else make())
        return kept

    return given


#: form: good files of it, and how one is changed
FORMS: dict[str, tuple[Callable[[], list[bytes]], Callable[[bytes, Random], bytes]]] = {
    "zip": (once(torch_zips), change_zip),
    "stream": (once(torch_streams), change_stream),
    "tar": (once(lambda: [tars.old_tar()]), change_tar),
    "safetensors": (once(own_files), change_safetensors),
    "module": (once(lambda: [m for m in modules.good() if m[:2] != b"PK"]), change_module),
    "module-zip": (once(lambda: [m for m in modules.good() if m[:2] == b"PK"]), change_zip),
    "kind": (once(lambda: kind_files.good("taeda")), change_kind),
    "kind-zip": (once(lambda: kind_files.good("pt")), change_kind_zip),
    "program": (once(lambda: [programs.good()]), change_program),
    "npy": (once(lambda: [npys.npy(npys.GOOD)]), change_npy),
    "npz": (once(npz), change_npz),
    "gguf": (once(gguf), change_gguf),
}
