"""Load hostile files of every kind, each in a child process that is watched.
None may be accepted, run code or grow.

    python tools/hunt/load_hostile.py                 the first 60 of each family
    python tools/hunt/load_hostile.py --all           all of them
    python tools/hunt/load_hostile.py --again "zip/one archive behind another"

A child may open the file it is given and nothing else: an audit hook ends it at an import, at
compiling or running code (but the text that a graph of operators is written as), at starting a
process, at a socket. Its memory above what it had before
may reach the file's size (twice, where the file is mapped: its pages count) and 20 MiB, or 38 times
what describes objects.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from hostile_files import PROGRAMS, every

MEMORY = 20 << 20  # bytes above the file's own: 16 are promised, the rest is what malloc rounds up
FACTOR = 38  # or so many for each byte that describes objects, so that what `save` writes is read
SECONDS = 10.0  # of the processor; the slowest take 3 to 5, by its speed, and what is quadratic takes minutes
LIMIT = 2 << 30  # address space on top of what is there: a backstop
REFUSED, ACCEPTED, WATCHED = 0, 3, 4  # how a child ends
FORBIDDEN = ("import", "exec", "compile", "open", "socket.", "subprocess.", "os.", "shutil.",
    "ctypes.", "pickle.", "marshal.", "code.", "tempfile.", "glob.", "pty.", "webbrowser.",
    "urllib.", "http.")  # fmt: skip
DOCUMENTED = (RuntimeError, EOFError)


@dataclass
class Outcome:
    family: str
    name: str
    size: int
    problem: str
    said: str
    grown: int
    seconds: float


def warm_up() -> None:
    """Import and use what reading imports, so that what a file makes us import stands out."""
    import pickletools  # finds the names in a refused file

    import numpy as np
    from hostile_files import legacy, modules, programs, tars
    from hostile_files.cuts import ggufs, npys, pt, tensor
    from hostile_files.words import Entry, archive, call, glob

    import taeda
    from taeda import nn

    taeda.serialization.add_safe_globals([getattr(nn, name) for name in modules.ALLOWED])
    for data in modules.good():
        taeda.load(io.BytesIO(data))
    taeda.export.load(io.BytesIO(programs.good())).module()
    scalar = call(
        "numpy._core.multiarray scalar", call("numpy dtype", "f8", False, True), b"C\x08" + bytes(8)
    )
    for data in (
        pt(tensor()),
        pt(scalar),
        pt(call("torch.nn.parameter Parameter", tensor())),
        pt(
            call(
                "torch._utils _rebuild_device_tensor_from_numpy",
                tensor(),
                glob("torch float32"),
                "cpu",
                False,
            )
        ),
        legacy.stream(),
        tars.old_tar(),
        npys.npy(npys.GOOD),
        ggufs.gguf(),
        archive([Entry("a.npy", npys.npy(npys.GOOD))]),
    ):
        taeda.load(io.BytesIO(data))
    file = io.BytesIO()
    taeda.save({"w": taeda.ones(2)}, file)
    file.seek(0)
    taeda.load(file)
    numbers = taeda.arange(3).sort().values  # what a long header is looked through with
    places = taeda.searchsorted(numbers, numbers).clamp_(max=1)
    assert numbers[numbers == 1].tolist() == [1] == numbers[places][1:2].tolist()
    for broken in (b"", b"<html>", b"\x80\x02N.", bytes(100)):
        with contextlib.suppress(DOCUMENTED):
            taeda.load(io.BytesIO(broken))
    assert np.float64 and pickletools.dis  # they stay imported


def watch(path: str) -> None:
    """From here on this process may open `path` for reading, and do nothing else of note."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not event.startswith(FORBIDDEN):
            return
        if event == "open" and arguments[0] in (path, None) and "w" not in str(arguments[1]):
            return
        if _is_of_a_graph(event, arguments):
            return
        os.write(3, f"{event} {arguments!r:.200}".encode())
        os._exit(WATCHED)

    sys.addaudithook(hook)


def _is_of_a_graph(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether `taeda.fx` makes the function of a graph, which it writes itself: only names of values
    in it can be of the file.
    """
    kept = arguments[-1] if event == "compile" else getattr(arguments[0], "co_filename", "")
    return event in ("compile", "exec") and str(kept).startswith("<taeda.fx graph ")


def loaded(family: str, source: Any, mapped: bool) -> Any:
    """The file by the reader of its family."""
    import taeda

    if family == PROGRAMS:
        return taeda.export.load(source)
    return taeda.load(source, mmap=mapped or None)


def status() -> dict[str, int]:
    """Memory now and at its peak, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    rows = (line.split() for line in lines if line.startswith(("VmRSS", "VmHWM")))
    return {row[0]: int(row[1]) * 1024 for row in rows}


def child(family: str, path: str, way: str) -> None:
    """Load the file; end with what came of it. Never returns."""
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + LIMIT, size + LIMIT))
    content = Path(path).read_bytes() if way == "open" else None
    ctypes.CDLL(None).malloc_trim(0)  # else pages that malloc kept hide what reading takes
    Path("/proc/self/clear_refs").write_text("5")
    before, begin = status()["VmHWM:"], time.process_time()
    reading = open("/proc/self/status", "rb", buffering=0)  # noqa: SIM115 - opened before watching begins
    watch(path)
    source = path if content is None else io.BytesIO(content)
    ending, said = ACCEPTED, ""
    try:
        made = loaded(family, source, way == "map")
        said = f"a {type(made).__name__}"
    except DOCUMENTED as error:
        ending, said = REFUSED, f"{type(error).__name__}: {error}"
    except BaseException as error:  # noqa: BLE001 - any other type is what we look for
        said = f"undocumented {type(error).__name__}: {error}"
    seconds = time.process_time() - begin
    peak = next(line for line in reading.read().splitlines() if line.startswith(b"VmHWM"))
    grown = int(peak.split()[1]) * 1024 - before
    os.write(3, f"{grown} {seconds} {said}"[:4000].encode(errors="replace"))
    os._exit(ending)


def attempt(family: str, name: str, data: bytes, path: str, way: str) -> Outcome:
    """Write the file, load it in a child, and see how that ends."""
    Path(path).write_bytes(data)
    told, telling = os.pipe()
    number = os.fork()
    if not number:
        os.dup2(telling, 3)
        child(family, path, way)
    os.close(telling)
    with os.fdopen(told, "rb") as answer:
        said = answer.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    grown, seconds, text = 0, 0.0, said
    if code in (REFUSED, ACCEPTED):
        first, second, text = said.split(" ", 2)
        grown, seconds = int(first), float(second)
    own = len(data) * (2 if way == "map" else 1)  # pages of a mapping are counted as memory, too
    problem = problem_of(code, text, grown, seconds, own)
    return Outcome(family, f"{name} ({way})", len(data), problem, text, grown, seconds)


def problem_of(code: int, text: str, grown: int, seconds: float, size: int) -> str:
    if code == ACCEPTED:
        return "accepted" if not text.startswith("undocumented") else "undocumented error"
    if code == WATCHED:
        return "did what a reader may not"
    if code != REFUSED:
        return f"died: {signal.Signals(-code).name if code < 0 else code}"
    if not text.partition(": ")[2]:
        return "said nothing"
    if grown > size + max(MEMORY, FACTOR * size):
        return f"took {grown >> 20} MiB"
    return f"took {seconds:.1f} s" if seconds > SECONDS else ""


def ways(name: str, data: bytes) -> Iterator[str]:
    """As a path; mapped, or from an open file, in turn.
    Mapping takes no checksums, and a stream may go on.
    """
    yield "path"
    if not name.startswith(("damaged: ", "behind: ")):
        yield "map" if len(data) % 2 else "open"


def table(outcomes: list[Outcome]) -> None:
    print(
        f"{'family':24}{'files':>7}{'refused':>9}{'slowest':>11}{'most memory above the file':>29}"
    )
    for family in dict.fromkeys(o.family for o in outcomes):
        rows = [o for o in outcomes if o.family == family]
        good = sum(not o.problem for o in rows)
        slow, most = max(o.seconds for o in rows), max(max(o.grown - o.size, 0) for o in rows)
        print(f"{family:24}{len(rows):7}{good:9}{slow:9.2f} s{most / 2**20:25.1f} MiB")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--most", type=int, default=60, help="files of each family")
    parser.add_argument("--all", action="store_true", help="every file of every family")
    parser.add_argument(
        "--again", metavar="FAMILY/NAME", help="load one in this process, unwatched"
    )
    options = parser.parse_args()
    warm_up()
    if options.again:
        return again(options.again)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "file")
        for family, name, data in every(None if options.all else options.most):
            for way in ways(name, data):
                outcomes.append(attempt(family, name, data, path, way))
                if (last := outcomes[-1]).problem:
                    print(f"{last.problem}: {family}/{last.name}\n    {last.said:.300}", flush=True)
    table(outcomes)
    bad = sum(bool(o.problem) for o in outcomes)
    kinds = len({(o.family, o.name.rpartition(" (")[0]) for o in outcomes})
    print(f"{kinds} kinds of file, {len(outcomes)} loads, {bad} not refused as they should be")
    return bad > 0


def again(wanted: str) -> int:
    for family, name, data in every():
        if f"{family}/{name}" == wanted:
            print(data[:300])
            try:
                print("accepted:", loaded(family, io.BytesIO(data), False))
            except (*DOCUMENTED, pickle.UnpicklingError) as error:
                print(f"refused: {type(error).__name__}: {error}")
            return 0
    print("there is no such file")
    return 1


if __name__ == "__main__":
    sys.exit(main())
