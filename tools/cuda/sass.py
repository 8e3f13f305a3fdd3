"""Instructions of compiled kernels, counted in the machine code itself: no disassembler is needed.

An instruction has 16 bytes, of which the lowest 12 bits tell the operation. As NVRTC 13.0 writes it for
sm_90, a branch holds its distance in words of 4 bytes: the lowest 8 bits at bit 16, the others from bit 34
on. What pads a kernel behind its last instruction is a branch to itself and empty instructions, so
`counted` refuses code whose last branch is no such one: then branches are written in another way.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

NOP, BRANCH = 0x918, 0x947
LOADS = (0x381, 0x981)  # from global memory, by a register or a descriptor
STORES = (0x386, 0x986)
LOCAL = (0x983, 0x387)  # what is spilled
BARRIER = 0xB1D


class Counts(NamedTuple):
    """Of one kernel. `loop`: instructions of its longest loop, which goes over the elements."""

    instructions: int
    loop: int
    loads: int
    stores: int
    local: int
    barriers: int


def sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of every section of an ELF file of 64 bits."""
    if cubin[:5] != b"\x7fELF\x02":
        raise ValueError("a cubin is an ELF file of 64 bits")
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    entries = [struct.unpack_from("<II8xQQQ", cubin, offset + k * size) for k in range(count)]
    table = entries[names]
    strings = cubin[table[3] : table[3] + table[4]]
    for name, kind, _, at, length in entries:
        text = strings[name : strings.index(b"\0", name)].decode()
        yield text, b"" if kind == 8 else cubin[at : at + length]


def counted(code: bytes) -> Counts:
    """The counts of a kernel's section."""
    words = [int.from_bytes(code[k : k + 16], "little") for k in range(0, len(code), 16)]
    last = max((k for k, word in enumerate(words) if word & 0xFFF == BRANCH), default=-1)
    if last < 0 or _target(words[last], last) != last:
        raise ValueError("the last branch of a kernel does not go to itself: another encoding")
    while words and (
        words[-1] & 0xFFF == NOP or _target(words[-1], len(words) - 1) == len(words) - 1
    ):
        words.pop()
    operations = [word & 0xFFF for word in words]
    spans = [at - to + 1 for at, word in enumerate(words) if (to := _target(word, at)) < at]
    return Counts(
        len(words),
        max(spans, default=0),
        sum(operation in LOADS for operation in operations),
        sum(operation in STORES for operation in operations),
        sum(operation in LOCAL for operation in operations),
        operations.count(BARRIER),
    )


def _target(word: int, at: int) -> int:
    """The number of the instruction that a branch goes to; behind all others for what is no branch."""
    if word & 0xFFF != BRANCH:
        return 1 << 60
    high = word >> 34 & (1 << 48) - 1
    high -= (high >> 47) << 48
    return at + 1 + (high << 8 | word >> 16 & 0xFF) // 4


def kernels(cubin: bytes) -> dict[str, Counts]:
    """The counts of every kernel by its symbol."""
    return {
        name.removeprefix(".text."): counted(content)
        for name, content in sections(cubin)
        if name.startswith(".text.")
    }
