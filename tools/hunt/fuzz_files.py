"""Load changed files of every form, in child processes.
None may end the process, hang, or raise what is not documented.

    python tools/hunt/fuzz_files.py                      20,000 files, of all forms in turn
    python tools/hunt/fuzz_files.py --forms "zip|gguf"   forms whose name matches
    python tools/hunt/fuzz_files.py --files 1000000      a long run
    python tools/hunt/fuzz_files.py --again 0/4711       load file 4711 of seed 0 once more, in this process
    python tools/hunt/fuzz_files.py --keep FOLDER        put the files that were found there

Each file is made from its number alone. What `load` accepts is read to the last byte: wrong memory
shows when it is touched. A program that `export.load` accepts is run, and may raise what it likes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import re
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_children import Range, run_as_child, supervise

BATCH = 1000  # files a child
LIMIT = 300.0  # seconds a child
HANG = 3.0  # seconds of the processor a file
MEMORY = 3 << 30  # address space of a child
DOCUMENTED = (RuntimeError, EOFError)
PROGRAM = "program"  # the form that `export.load` reads


class Hang(BaseException):
    """Raised inside a load that takes too long."""


def made(number: int, seed: int, forms: list[str]) -> tuple[str, bytes]:
    """The form and the bytes of file `number`."""
    from mutate_files import mutant

    form = forms[number % len(forms)]
    return form, mutant(form, Random(f"{seed}/{number}"))


def attempt(data: bytes, form: str = "") -> str:
    """Load a file. What came of it: "refused", "accepted", or what should not be."""
    import taeda

    signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
    try:
        if form == PROGRAM:
            program = taeda.export.load(io.BytesIO(data))
            signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
            run_program(program)
        else:
            use(taeda.load(io.BytesIO(data)))
    except DOCUMENTED as error:
        return "refused" if str(error) else f"said nothing: {type(error).__name__}"
    except Hang:
        return "hang"
    except Exception as error:  # noqa: BLE001 - any other type is what we look for
        return f"undocumented: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "accepted"


def run_program(program: Any) -> None:
    """Run it at the sizes that it says it takes; a loop in it may be one without end."""
    import taeda

    use([program.state_dict, program.constants])
    given = list(program.graph.find_nodes(op="placeholder"))
    sizes = {
        n: max(2, min(4, int(r.upper) if r.upper < 9 else 4))
        for n, r in program.range_constraints.items()
    }
    with contextlib.suppress(Exception, Hang):
        shapes = [[e.value(sizes) for e in node.meta.get("shape", ())] for node in given]
        if max(map(math.prod, shapes), default=0) < 1 << 20:
            tensors = [
                taeda.ones(shape, dtype=node.meta["val"].dtype) if "val" in node.meta else None
                for shape, node in zip(shapes, given, strict=True)
            ]
            program.graph_module(*tensors)


def use(value: Any) -> None:
    """Read every number of every tensor in what came back."""
    import kind_files

    import taeda
    from taeda._native import core

    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, taeda.Tensor):
            if item.device.type != "cpu":
                continue
            if core.parts_of(item) is not None:
                kind_files.read(item)
            elif item.numel() < 1 << 20:
                item.detach().clone()
        elif isinstance(item, taeda.nn.Module) and id(item) not in seen:
            seen.add(id(item))
            waiting += vars(item).values()
        elif isinstance(item, dict | list | tuple | set | frozenset) and id(item) not in seen:
            seen.add(id(item))
            waiting += item.values() if isinstance(item, dict) else item


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Load the files of a range, in a child: how each ended, and what should not be."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _raise_hang)
    warnings.simplefilter("ignore")
    allow_modules()
    forms = chosen(given.pattern)
    for number in range(given.first, given.first + given.count):
        note(number, "")
        form, data = made(number, given.seed, forms)
        outcome = attempt(data, form)
        good = outcome in ("refused", "accepted")
        yield f"{form} {outcome.partition(':')[0]}", None if good else [number, form, outcome]


def allow_modules() -> None:
    """Allow the classes of whole modules, so that what is changed in one is looked at."""
    from hostile_files import modules

    import taeda
    from taeda import nn

    taeda.serialization.add_safe_globals([getattr(nn, name) for name in modules.ALLOWED])


def _raise_hang(*_: object) -> None:
    raise Hang


def chosen(pattern: str) -> list[str]:
    from mutate_files import FORMS

    return [form for form in FORMS if re.search(pattern, form)]


def batch_of(
    first: int, count: int, options: argparse.Namespace, folder: Path
) -> tuple[Counter[str], list[Any]]:
    """One batch: results by kind, and findings."""
    done = supervise(__file__, Range(options.seed, first, count, options.forms), folder, LIMIT)
    forms = chosen(options.forms)
    deaths = [[d.number, made(d.number, options.seed, forms)[0], d.ending] for d in done.deaths]
    return done.counts, deaths + done.found


def run(options: argparse.Namespace) -> int:
    counts, findings = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, options.files, BATCH):
            told, found = batch_of(first, min(BATCH, options.files - first), options, Path(folder))
            counts += told
            findings += found
            for number, form, text in found:
                print(f"{options.seed}/{number} {form}: {text}", flush=True)
                keep(number, form, options)
    for kind, number in sorted(counts.items()):
        print(f"{number:9} {kind}")
    print(f"{sum(counts.values())} files, {len(findings)} findings")
    return bool(findings)


def keep(number: int, form: str, options: argparse.Namespace) -> None:
    if options.keep:
        folder = Path(options.keep)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{form}-{options.seed}-{number}").write_bytes(
            made(number, options.seed, chosen(options.forms))[1]
        )


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--forms", default="", help="only forms whose name matches this expression")
    parser.add_argument("--keep", default="", metavar="FOLDER")
    parser.add_argument("--again", metavar="SEED/NUMBER", help="load one file in this process")
    options = parser.parse_args()
    if not options.again:
        return run(options)
    seed, number = map(int, options.again.split("/"))
    form, data = made(number, seed, chosen(options.forms))
    print(form, len(data), data[:400])
    allow_modules()
    import taeda

    print("->", (taeda.export.load if form == PROGRAM else taeda.load)(io.BytesIO(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
