"""The kernel tables stay portable: their device text, compiled by g++, gives the bits of the
processor's loops.

    device_text.py                        every loop, flat and strided, against every instruction
                                          set of this machine that has fused products
    device_text.py --family unary         one table
    device_text.py --nvrtc --part 0/8     compiled by NVRTC (the wheel nvidia-cuda-nvrtc) for
                                          sm_80, 90, 100 and 120: no error, no spill above 32 bytes,
                                          no more registers than tools/cuda/device_text.json allows,
                                          no barrier that a part of a warp reaches
    device_text.py --sass                 instructions of 46 kernels, counted in their machine code for
                                          sm_90: no more than tools/cuda/device_sass.json allows, and what
                                          they allow of the memory's speed (docs/cuda.md)
    device_text.py --times                each kernel alone, for sm_90, as a program compiles it: the
                                          processor's time

A difference is told with the op, dtype, operands and both results. NaNs count as equal whatever their bits.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from taeda.cuda._programs import DTYPES as NAMES

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "packages" / "core"
CSRC = CORE / "csrc"
BUILD = CORE / "build" / "device-text"
sys.path[:0] = [str(CORE), str(ROOT / "tools" / "cuda")]
import hatch_build  # noqa: E402 - the flags of the build
from complex_formulas import LISTED  # noqa: E402 - found through the line above

_text = hatch_build.device_text  # the product's own reader of texts

#: tables of functions that compile for long: NVRTC is given their flat kernels of float and double,
#: and the others share their text
LONG = ("special", "bessel", "airy", "probability", "polynomials", "complex_math")
SIZES = dict(
    zip(NAMES[:21], (1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 4, 8, 16, 1, 1, 1, 1, 1), strict=True)
)
#: an element, or each part of it, as numpy compares it
ELEMENT = {
    "BOOL": "u1",
    "U8": "u1",
    "I8": "i1",
    "I16": "i2",
    "I32": "i4",
    "I64": "i8",
    "U16": "u2",
    "U32": "u4",
    "U64": "u8",
    "F16": "f2",
    "BF16": "u2",
    "F32": "f4",
    "F64": "f8",
    "C32": "f2",
    "C64": "f4",
    "C128": "f8",
}
TABLES = _text.TABLES

# ---- what the tables hold ----


def loops(family: str) -> list[tuple[str, str, list[str]]]:
    """(symbol, dtype of the output, dtypes of the operands) of every loop in the device text of a family."""
    text = _text.kernel(family)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "family.cpp"
        write_headers(Path(folder), family)
        path.write_text("#define TD_MARK(...) @ __VA_ARGS__ @\n" + text)
        marked = (Path(folder) / "cpu/simd/elementwise.h").read_text()
        loop = "#define TD_LOOP(symbol, row, ...)"
        kept = re.sub(rf"{re.escape(loop)}.*", f"{loop} @ symbol, __VA_ARGS__ @", marked)
        (Path(folder) / "cpu/simd/elementwise.h").write_text(kept)
        flags = ("-E", "-P", "-include", "emulate.h", f"-I{folder}", f"-I{CORE / 'tests' / 'cuda'}")
        out = run("g++", "-std=c++17", *flags, str(path))
    found = []
    for marks in re.findall(r"@ (\w+, TD_[^@]*) @", out):
        symbol, to, *operands = [word.strip().removeprefix("TD_") for word in marks.split(",")]
        found.append((symbol, to, operands))
    return found


def entries(family: str) -> list[tuple[str, str, str]]:
    """(op, dtype, symbol) of every line of a table."""
    path = CSRC / _text.FAMILIES[family].text
    out = run("gcc", "-E", "-P", "-DTD_ISA=x", f"-I{CSRC}", str(path))
    table = out[out.index(f"td_table_{family}_x[] =") :]
    return re.findall(r'\{\s*"(\w+)",\s*TD_(\w+),\s*(\w+)\s*\}', table)


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr[-6000:]}")
    return done.stdout


def write_headers(folder: Path, family: str) -> None:
    for name, text in _text.headers(_text.FAMILIES[family].text).items():
        if text:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def kernels(family: str) -> list[str]:
    """The kernels of a family that NVRTC is given: all of a table, one for each kind elsewhere."""
    if family in LONG:
        found = [symbol for symbol, _, _ in loops(family)]
        return [f"td_flat<{name}>" for name in found if name.endswith(("_f32", "_f64", "_c128"))]
    if family not in TABLES:
        return list(dict.fromkeys(_text.tried(family)))
    return [f"td_{how}<{symbol}>" for symbol, _, _ in loops(family) for how in ("flat", "strided")]


# ---- compiled by g++ ----

EMULATED = (
    "-std=c++17",
    "-O0",  # the optimizer may change no bit, and takes two thirds of the time
    "-g0",
    "-fPIC",
    "-shared",
    "-mfma",
    "-ffp-contract=off",
    "-fno-math-errno",
)
QUIET = (
    "-fno-trapping-math",
    "-Wno-unknown-pragmas",
    "-fvisibility=hidden",
    "-include",
    "emulate.h",
)


def emulated(family: str, symbols: list[str]) -> dict[str, Any]:
    """The kernels of a family as functions (grid, block, arguments), by name."""
    folder = BUILD / family
    folder.mkdir(parents=True, exist_ok=True)
    write_headers(folder, family)
    kernels = [f"td_{how}<{symbol}>" for symbol in symbols for how in ("flat", "strided")]
    lines = "\n".join(f"TD_KERNEL({name})" for name in kernels)
    table = 'extern "C" __attribute__((visibility("default"))) const td_emulated td_emulated_kernels[] = {\n'
    path = folder / f"{family}.cpp"
    path.write_text(f"{_text.kernel(family)}\n{table}{lines}\n{{nullptr, nullptr}}}};\n")
    library = folder / f"{family}.so"
    include = (f"-I{folder}", f"-I{CORE / 'tests' / 'cuda'}")
    run(*compiler("g++"), *EMULATED, *QUIET, *include, "-c", str(path), "-o", f"{library}.o")
    run("g++", "-shared", f"{library}.o", "-o", str(library))
    return table_of(
        library,
        "td_emulated_kernels",
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p),
    )


def compiler(name: str) -> list[str]:
    return (["ccache"] if os.environ.get("CC", "").startswith("ccache") else []) + [name]


class Named(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("run", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def table_of(library: Path, symbol: str, kind: Any) -> dict[str, Any]:
    first = ctypes.cast(getattr(ctypes.CDLL(str(library)), symbol), ctypes.POINTER(Named))
    found, k = {}, 0
    while first[k].name:
        found[first[k].name.decode()] = kind(first[k].run)
        k += 1
    return found


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("loop", ctypes.c_void_p)]


LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


def processor(isa: str) -> dict[tuple[str, str], Any]:
    """The loops of one instruction set, by op and dtype."""
    folder = BUILD / "processor"
    folder.mkdir(parents=True, exist_ok=True)
    names = "".join(f"extern const td_loop_entry td_table_{name}_{isa}[];\n" for name in TABLES)
    listed = ", ".join(f"td_table_{name}_{isa}" for name in TABLES)
    accessor = folder / f"tables_{isa}.c"
    export = '__attribute__((visibility("default")))'
    accessor.write_text(
        f'#include "runtime/loops.h"\n{names}{export} const td_loop_entry *const *tables(void)\n'
        f"{{ static const td_loop_entry *const all[] = {{{listed}, NULL}}; return all; }}\n"
    )
    # the objects of the library itself, which lie there compiled
    native, cc = hatch_build.BUILD / "native", hatch_build.cc
    sources = {CSRC / _text.FAMILIES[name].text for name in TABLES} | {CSRC / "cpu" / "convert.c"}
    plain = {CSRC / "runtime" / f"{name}.c" for name in ("scalar", "dtype", "error")}
    units = [
        unit
        for unit in hatch_build.plain_units(native / "generated")
        if unit.source in plain or (unit.source in sources and unit.tag == isa)
    ]
    units.append(cc.Unit(accessor, (f"-I{CSRC}",)))
    with cc.locked(native):
        state = cc.Build(native, cc.compiler(), hatch_build.CFLAGS)
        objects = state.compile(units)
        library = state.link(objects, folder / f"{isa}.so", ("-shared", *hatch_build.LDFLAGS))
    tables = ctypes.CDLL(str(library)).tables
    tables.restype = ctypes.POINTER(ctypes.POINTER(Entry))
    found, all_tables, t = {}, tables(), 0
    while all_tables[t]:
        k = 0
        while (row := all_tables[t][k]).name:
            found[row.name.decode(), NAMES[row.dtype]] = LOOP(row.loop)
            k += 1
        t += 1
    return found


# ---- the arguments of a call, as each side has them ----

#: values of arguments that are no tensors, tried in turn; what is not named here takes its default
VALUES: dict[str, list[Any]] = {
    "alpha": [1, 2.5], "value": [1, 1.5], "negative_slope": [0.01, 0.2], "threshold": [0.3, 0.5],
    "lambd": [0.5, 0.25], "min_val": [-1.0, -0.5], "max_val": [1.0, 0.75], "beta": [1.0, 2.0],
    "decimals": [1, -2], "scale": [1.0, 1.5], "input_scale": [1.0, 0.5], "eps": [None, 0.01],
    "is_result": [False, True], "nan": [None, 2.0], "posinf": [None, 3.0], "neginf": [None, -3.0],
    "approximate": ["none", "tanh"],
}  # fmt: skip
KINDS = {"Scalar": 3, "int": 4, "SymInt": 4, "float": 6, "bool": 8, "str": 12}


def rows() -> dict[str, Any]:
    """A row of the op table for each name that loops are found under."""
    hatch_build._load("_table", CORE / "src" / "taeda" / "_table")
    from _table._generate import rows as table

    return {row.target: row for row in reversed(table()) if row.kind == "pointwise"}


def arguments(row: Any, turn: int, whole: bool, keep: list[Any]) -> tuple[bytes, bytes]:
    """The arguments as the processor's td_arg and as the device's."""
    host, device = b"", b""
    for a in row.schema.arguments:
        if a.is_tensor:
            host += struct.pack("<iiqQ24x", 1, 0, 0, FAKE_TENSOR)
            device += struct.pack("<ii32x", 1, 0)
            continue
        choices = VALUES.get(a.name)
        value = choices[turn % len(choices)] if choices else a.default if a.has_default else 1
        if value is None:
            host, device = host + bytes(48), device + bytes(40)
            continue
        if whole and isinstance(value, float):
            value = int(value) + 1
        host_part, device_part, word = packed(a.base, value, keep)
        host += struct.pack("<iiq", KINDS[a.base], 0, 0) + host_part
        device += struct.pack("<ii", KINDS[a.base], word) + device_part
    return host, device.ljust(320, b"\0")


def packed(base: str, value: Any, keep: list[Any]) -> tuple[bytes, bytes, int]:
    if base == "Scalar":
        kind = 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2
        part = struct.pack("<i4xqdd", kind, int(value), float(value), 0.0)
        return part, part, 0
    if base == "str":
        keep.append(ctypes.create_string_buffer(value.encode()))
        return struct.pack("<Q24x", ctypes.addressof(keep[-1])), bytes(32), ord(value[0])
    part = struct.pack("<d24x", value) if base == "float" else struct.pack("<q24x", int(value))
    return part, part, 0


_plain_tensor = ctypes.create_string_buffer(512)  # flags 0: not a Python number
FAKE_TENSOR = ctypes.addressof(_plain_tensor)

# ---- operands ----

COUNT = 4099


def operands(dtypes: list[str], op: str) -> list[np.ndarray]:
    rng = np.random.default_rng(len(op))
    made = [operand(rng, dtype) for dtype in dtypes]
    return [np.ascontiguousarray(x).view(np.uint8).reshape(COUNT, -1) for x in made]


def operand(rng: Any, dtype: str) -> np.ndarray:
    if dtype == "BOOL":
        return rng.integers(0, 2, COUNT, dtype=np.uint8)
    if dtype[0] in "UI":
        kind = np.dtype(ELEMENT[dtype])
        info = np.iinfo(kind)
        x = rng.integers(info.min, info.max, COUNT, dtype=kind, endpoint=True)
        x[::2] = rng.integers(0 if info.min == 0 else -9, 9, len(x[::2])).astype(kind)
        x[5:7] = info.min, info.max
        return x
    parts = 2 if dtype[0] == "C" else 1
    x = numbers(rng, COUNT * parts)
    rng.shuffle(x)
    with np.errstate(over="ignore"):
        if dtype == "BF16":
            return (x.astype("f4").view("u4") >> 16).astype("u2")
        return x.astype(ELEMENT[dtype])


def numbers(rng: Any, count: int) -> np.ndarray:
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1,
        -1,
        0.5,
        -0.5,
        20,
        88.8,
        -104,
        1e-45,
        -1e-40,
        2.0,
        8191.0,
    ]
    quarter = count // 4
    return np.concatenate(
        [
            rng.standard_normal(quarter) * 3,
            rng.uniform(-1, 1, quarter),
            10.0 ** rng.uniform(-40, 38, quarter) * rng.choice([-1, 1], quarter),
            rng.integers(-20, 20, count - 3 * quarter - len(special)).astype(float),
            special,
        ]
    )


# ---- runs ----


def aligned(size: int) -> np.ndarray:
    room = np.zeros(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size]


def on_processor(loop: Any, xs: list[np.ndarray], size: int, context: bytes) -> np.ndarray:
    out = aligned(COUNT * size)
    data = (ctypes.c_void_p * 8)(out.ctypes.data, *(x.ctypes.data for x in xs))
    strides = (ctypes.c_int64 * 8)(size, *(x.shape[1] for x in xs))
    buffer = ctypes.create_string_buffer(context, len(context) + 1)
    loop(ctypes.addressof(data), ctypes.addressof(strides), COUNT, ctypes.addressof(buffer))
    return out.copy()


def launch(kernel: Any, call: bytes, grid: int, block: int) -> None:
    room = aligned(len(call))
    room[:] = np.frombuffer(call, np.uint8)
    if kernel(grid, block, ctypes.addressof((ctypes.c_void_p * 1)(room.ctypes.data))):
        sys.exit("a kernel waits for ever at a barrier")


def flat_call(pointers: list[int], n: int, args: bytes) -> bytes:
    call = bytes(64) + struct.pack("<4QqI4x", *(pointers + [0] * 4)[:4], n, 0) + args
    return call.ljust(-(-len(call) // 16) * 16, b"\0")


def on_device_flat(kernel: Any, xs: list[np.ndarray], size: int, args: bytes) -> np.ndarray:
    out = aligned(COUNT * size)
    rooms = [aligned(x.size) for x in xs]
    for room, x in zip(rooms, xs, strict=True):
        room[:] = x.reshape(-1)
    launch(
        kernel, flat_call([out.ctypes.data, *(r.ctypes.data for r in rooms)], COUNT, args), 3, 64
    )
    return out.copy()


def magic(size: int) -> tuple[int, int]:
    shift = (size - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - size) // size + 1) & 0xFFFFFFFF, shift


def on_device_strided(kernel: Any, xs: list[np.ndarray], size: int, args: bytes) -> np.ndarray:
    """In two dimensions: the output backwards, every second operand turned; 4,095 of the elements."""
    inner, outer = 5, 819
    n = inner * outer
    out = np.zeros((n, size), np.uint8)
    pointers, strides = [out.ctypes.data + (n - 1) * size], [(-size, -size * inner)]
    rooms = []
    for k, x in enumerate(xs):
        item, grid = x.shape[1], x[:n].reshape(outer, inner, -1)
        rooms.append(np.ascontiguousarray(grid.transpose(1, 0, 2) if k % 2 else grid))
        pointers.append(rooms[-1].ctypes.data)
        strides.append((item * outer, item) if k % 2 else (item, item * inner))
    missing = 4 - len(pointers)
    dims = b""
    for d, length in enumerate((inner, outer)):
        dims += struct.pack(
            "<III4x4q", length, *magic(length), *[s[d] for s in strides], *[0] * missing
        )
    head = bytes(64) + struct.pack("<4QIIi4x", *pointers, *[0] * missing, n, 0, 2)
    call = head + args + dims.ljust(64 * 48, b"\0")
    launch(kernel, call.ljust(-(-len(call) // 16) * 16, b"\0"), 3, 32)
    return out[::-1].reshape(-1).copy()


def differing(made: np.ndarray, wanted: np.ndarray, dtype: str) -> np.ndarray:
    """Where two results differ; NaNs are equal."""
    kind = np.dtype(ELEMENT[dtype])
    a, b = made.view(kind), wanted.view(kind)
    if dtype == "BF16":
        nan = ((a & 0x7FFF) > 0x7F80) & ((b & 0x7FFF) > 0x7F80)
    else:
        nan = (a != a) & (b != b)
    raw = f"u{kind.itemsize}"
    return np.flatnonzero((a.view(raw) != b.view(raw)) & ~nan)


def beyond(
    made: np.ndarray, wanted: np.ndarray, dtype: str, most: int, xs: list[np.ndarray]
) -> np.ndarray:
    """Where parts lie more than `most` apart, or are zeros of two signs, or only one is finite.

    The sign of an infinity beside a NaN says nothing, and neither does a power whose angle has lost
    its digits.
    """
    kind, parts = np.dtype(ELEMENT[dtype]), 2 if dtype[0] == "C" else 1
    a, b = (x.view(kind).reshape(-1, parts) for x in (made, wanted))
    zeros = (a == 0) & (b == 0)
    same = zeros & (np.signbit(a) == np.signbit(b)) | (a == b) & ~zeros | (a != a) & (b != b)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(np.where(np.isfinite(b), b, 0)).max(axis=1, keepdims=True))
        same |= (np.abs(a - b) / unit <= most) & ~zeros
        if len(xs) == 2:
            base, exponent = (x.reshape(-1).view(kind).astype("f8").view("c16") for x in xs)
            same |= (np.abs(exponent * np.log(base)) > 2.0**20)[: len(a), None]
    same |= np.isinf(a) & np.isinf(b) & ((a != a) & (b != b)).any(axis=1, keepdims=True)
    return np.flatnonzero(~same)


def compare(family: str, isas: list[str], table: dict[str, Any]) -> Iterator[str]:
    found = loops(family)
    kernels = emulated(family, [symbol for symbol, _, _ in found])
    shapes = {symbol: (to, dtypes) for symbol, to, dtypes in found}
    done: Counter[str] = Counter()
    for op, dtype, symbol in entries(family):
        if symbol not in shapes:
            done["chosen by the host"] += 1
            continue
        to, dtypes = shapes[symbol]
        # without a row the operator's C chooses the loop, which reads no argument
        row, keep = table.get(op), []
        xs = operands(dtypes, op)
        for turn in range(2):
            host, device = (
                arguments(row, turn, dtype[0] in "UIB", keep) if row else (bytes(512), bytes(320))
            )
            flat = on_device_flat(kernels[f"td_flat<{symbol}>"], xs, SIZES[to], device)
            strided = on_device_strided(kernels[f"td_strided<{symbol}>"], xs, SIZES[to], device)
            for isa in isas:
                wanted = on_processor(PROCESSORS[isa][op, dtype], xs, SIZES[to], host)
                for how, made in (("flat", flat), ("strided", strided)):
                    at = differing(made, wanted[: made.size], to)
                    if len(at) and family == "complex_math" and op in LISTED:
                        at = beyond(made, wanted[: made.size], to, LISTED[op], xs)
                    done["equal" if not len(at) else "different"] += 1
                    if len(at):
                        yield told(
                            f"{op} {dtype} {how} against {isa}, turn {turn}",
                            at,
                            made,
                            wanted,
                            to,
                            xs,
                            dtypes,
                        )
    print(f"{family}: {dict(done)}", flush=True)


def told(
    head: str,
    at: np.ndarray,
    made: np.ndarray,
    wanted: np.ndarray,
    to: str,
    xs: list[Any],
    dtypes: list[str],
) -> str:
    k = int(at[0])
    element = k // 2 if to[0] == "C" else k
    seen = [x[element].view(ELEMENT[d]).tolist() for x, d in zip(xs, dtypes, strict=True)]
    kind = ELEMENT[to]
    return (
        f"{head}: {len(at)} differ; at {k} of {seen}: {made.view(kind)[k]!r}, the processor "
        f"{wanted.view(kind)[k]!r}"
    )


PROCESSORS: dict[str, dict[tuple[str, str], Any]] = {}


def fused() -> list[str]:
    """The instruction sets of this machine with fused products: without them the last bits may
    differ, as vec.h says.
    """
    words = Path("/proc/cpuinfo").read_text().split()
    needs = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512dq", "avx512bw", "avx512vl"}}
    return [isa for isa in hatch_build.ISA_FLAGS if isa in needs and needs[isa] <= set(words)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", action="append", choices=list(_text.FAMILIES))
    parser.add_argument("--isa", action="append", choices=list(hatch_build.ISA_FLAGS))
    parser.add_argument("--nvrtc", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--sass", action="store_true")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--write", action="store_true", help="write the list of registers anew")
    options = parser.parse_args()
    families = options.family or TABLES
    if options.sass:
        import device_text_sass

        sys.exit(device_text_sass.check(options.write))
    if options.nvrtc or options.times:
        import device_text_nvrtc

        families = options.family or list(_text.FAMILIES)
        named = {family: kernels(family) for family in families}
        if options.times:
            sys.exit(device_text_nvrtc.times(named, options.part))
        sys.exit(device_text_nvrtc.check(named, options.part, options.write))
    if alone := [family for family in families if family in _text.ALONE]:
        parser.error(
            f"{', '.join(alone)}: no table of loops to compare; tests in packages/core/tests/cuda hold "
            "their kernels to the processor's bits, and --nvrtc and --times take them"
        )
    isas = options.isa or fused()
    with ThreadPoolExecutor(2) as pool:  # compilers run beside each other
        list(pool.map(lambda f: emulated(f, [s for s, _, _ in loops(f)]), families))
    for isa in isas:
        PROCESSORS[isa] = processor(isa)
    table = rows()
    wrong = [line for family in families for line in compare(family, isas, table)]
    for line in wrong[:40]:
        print(line)
    sys.exit(f"{len(wrong)} differences" if wrong else 0)


if __name__ == "__main__":
    main()
