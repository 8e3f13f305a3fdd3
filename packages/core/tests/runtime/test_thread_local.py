"""The thread-local variables of the library are few bytes: they come from a reserve that all
libraries of a process share.
"""

import struct
from pathlib import Path

import taeda._native

PT_TLS = 7
LIMIT = 544  # bytes; the reserve has about 1,600


def thread_local_bytes(library: bytes) -> int:
    """The size of the segment of thread-local variables, by the ELF header of a 64-bit library
    (System V ABI, chapter 5).
    """
    assert library[:5] == b"\x7fELF\x02"
    offset = struct.unpack_from("<Q", library, 32)[0]
    size, count = struct.unpack_from("<HH", library, 54)
    headers = (struct.unpack_from("<IIQQQQQQ", library, offset + k * size) for k in range(count))
    return sum(memory for kind, _, _, _, _, _, memory, _ in headers if kind == PT_TLS)


def test_thread_local_variables_are_small() -> None:
    library = next(Path(taeda._native.__file__).parent.glob("_core*.so"))
    assert 0 < thread_local_bytes(library.read_bytes()) <= LIMIT
