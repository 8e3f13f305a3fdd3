"""Device text through NVRTC, which users have: no device, driver or CUDA header is needed."""

from __future__ import annotations

import ctypes
import json
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from barriers import divergent
from hatch_build import device_text as _text  # device_text.py puts its folder on the path

LIST = Path(__file__).with_name("device_text.json")
ARCHES = (80, 90, 100, 120)
OPTIONS = ("--std=c++17", "--fmad=false", "--device-as-default-execution-space", "-Xptxas=-v")
SPILL = 32  # bytes a thread may spill at most
#: where it is more
MORE = {
    # the gradient of max pooling holds windows and places of three dimensions in 64 bits at once
    **{("pooling", arch): 80 for arch in ARCHES},
    # moments of double call what reads a row again, amid the walk
    **{("reduce", arch): 80 for arch in ARCHES},
    # as this assembler has it for sm_100: pooling spills more than elsewhere
    ("pooling", 100): 120,
    ("resample", 100): 64,
    ("resample", 120): 64,  # its gradient goes through the tables of both dimensions
}


def library() -> ctypes.CDLL:
    """libnvrtc of a wheel of NVIDIA's, after the library that it opens by name alone."""
    folders = (Path(entry) / "nvidia" for entry in sys.path if entry)
    # that of cuBLAS may lie beside the one that the lists are of, which is the newest
    found = [path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*")]
    found.sort(key=lambda path: int(re.findall(r"\d+", path.name)[0]), reverse=True)
    if not found:
        sys.exit("NVRTC is missing: pip install nvidia-cuda-nvrtc==13.0.88")
    for beside in found[0].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(beside))
    return ctypes.CDLL(str(found[0]))


@contextmanager
def made(
    nvrtc: ctypes.CDLL, family: str, names: list[str], arch: int, fixed: tuple[str, str] = ("", "")
) -> Iterator[tuple[ctypes.c_void_p, str]]:
    """A program of some kernels of a family, compiled, and the assembler's words; a text that does not
    compile ends the run. `fixed`: words that stand once in the text, and what stands there instead.
    """
    headers = _text.headers(_text.FAMILIES[family].text)
    strings = ctypes.c_char_p * len(headers)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    texts = strings(*(text.encode() for text in headers.values()))
    included = strings(*(name.encode() for name in headers))
    text = _text.kernel(family)
    if fixed[0] and text.count(fixed[0]) != 1:
        sys.exit(f"{family}: wanted {fixed[0]!r} once in its text")
    text = text.replace(*fixed).encode() if fixed[0] else text.encode()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text, f"{family}.cu".encode(), len(headers), texts, included
    )
    for name in names:
        nvrtc.nvrtcAddNameExpression(program, name.encode())
    options = [option.encode() for option in (*OPTIONS, f"--gpu-architecture=sm_{arch}")]
    failed = nvrtc.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if failed:
        sys.exit(f"{family} for sm_{arch}:\n{log.value.decode()[-4000:]}")
    try:
        yield program, log.value.decode()
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def compiled(nvrtc: ctypes.CDLL, family: str, names: list[str], arch: int) -> tuple[str, str]:
    """The assembler's words on the kernels of a family, and their PTX."""
    with made(nvrtc, family, names, arch) as (program, log):
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, ptx)
    return log, ptx.value.decode()


def machine_code(
    nvrtc: ctypes.CDLL, family: str, name: str, arch: int, fixed: tuple[str, str] = ("", "")
) -> tuple[str, bytes]:
    """The assembler's words on one kernel, and its cubin."""
    with made(nvrtc, family, [name], arch, fixed) as (program, log):
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
    return log, cubin.raw


def figures(log: str) -> tuple[int, int]:
    """The most registers of a kernel, and the most bytes that one spills."""
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", log)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill stores", log)]
    return max(registers, default=0), max(spills, default=0)


MOST_SECONDS, MOST_OF_95 = 1.0, 0.15  # of a kernel; of 95 % of them


def times(kernels: dict[str, list[str]], part: str) -> int:
    """Compile each of part k of n of the kernels alone; the exit status tells whether one took too
    long.
    """
    k, n = (int(word) for word in part.split("/"))
    nvrtc, took = library(), {}
    for family, names in kernels.items():
        for name in names[k::n]:
            begin = time.process_time()
            compiled(nvrtc, family, [name], 90)
            took[f"{family} {name}"] = time.process_time() - begin
    slowest = sorted(took, key=took.__getitem__, reverse=True)
    for name in slowest[:20]:
        print(f"{1000 * took[name]:.0f} ms {name}")
    most, of_95 = took[slowest[0]], took[slowest[len(slowest) // 20]]
    median = took[slowest[len(slowest) // 2]]
    print(
        f"{len(took)} kernels: {1000 * median:.0f} ms in the middle, 95 % within {1000 * of_95:.0f}, "
        f"{1000 * most:.0f} at most, {sum(took.values()):.0f} s for all"
    )
    return most > MOST_SECONDS or of_95 > MOST_OF_95


def check(kernels: dict[str, list[str]], part: str, write: bool) -> int:
    """Compile part k of n of the kernels for every architecture; the exit status."""
    k, n = (int(word) for word in part.split("/"))
    nvrtc, held = library(), json.loads(LIST.read_text()) if LIST.exists() else {}
    work = [(family, arch) for family in kernels for arch in ARCHES]

    def one(job: tuple[str, int]) -> str:
        family, arch = job
        names = kernels[family][k::n]
        begin = time.perf_counter()
        log, ptx = compiled(nvrtc, family, names, arch)
        registers, spilled = figures(log)
        if split := divergent(ptx):
            return "\n".join(split)
        took = time.perf_counter() - begin
        allowed = held.get(family, {}).get(str(arch))
        print(
            f"{family} sm_{arch}: {len(names)} kernels, {took:.1f} s, registers {registers} of "
            f"{allowed}, spilled {spilled}"
        )
        if write:
            held.setdefault(family, {})[str(arch)] = max(registers, allowed or 0)
            return ""
        if allowed is None:  # that it compiles is all that is asked until the list is written
            return ""
        bad = spilled > MORE.get((family, arch), SPILL) or registers > allowed
        return (
            f"{family} sm_{arch}: {registers} registers (the list has {allowed}), {spilled} bytes spilled"
            if bad
            else ""
        )

    with ThreadPoolExecutor(2) as pool:
        wrong = [line for line in pool.map(one, work) if line]
    if write:
        LIST.write_text(json.dumps(held, indent=2, sort_keys=True) + "\n")
    print("\n".join(wrong))
    return bool(wrong)
