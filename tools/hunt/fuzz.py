"""Call every operation with hostile arguments, in child processes.
None may die, hang, or raise what is not documented.

    python tools/hunt/fuzz.py                        100,000 calls
    python tools/hunt/fuzz.py --ops "conv|pool"      operations whose name matches
    python tools/hunt/fuzz.py --kinds 0.9            nine calls of ten have sparse, nested ... tensors
    python tools/hunt/fuzz.py --again 0/4711         make call 4711 of seed 0 once more, in this process

Each call is drawn from its number alone.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import resource
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_children import Range, run_as_child, supervise

BATCH = 500  # calls a child
LIMIT = 180.0  # seconds a child
MEMORY = 6 << 30  # address space of a child: a huge size is a MemoryError, not a full machine
# What documentation promises; NotImplementedError is a RuntimeError.
DOCUMENTED = (TypeError, ValueError, RuntimeError, IndexError, MemoryError, OverflowError)


def chosen_rows(pattern: str) -> list[Any]:
    """The rows whose operation matches and that can be called, in the table's order."""
    from hostile import targets

    from taeda._table._generate import rows

    return [row for row in rows() if re.search(pattern, row.schema.name) and targets(row)]


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Make the calls of a range, in a child: how each ended, and what should not be."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # whose shadow is terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    rows = chosen_rows(given.pattern)
    for number in range(given.first, given.first + given.count):
        outcome, text = attempt(rows, given, number, note)
        wrong = outcome.startswith("undocumented")
        found = f"{given.seed}/{number} {text} -> {outcome}" if wrong else None
        yield outcome.partition(":")[0], found


def drawn(rows: list[Any], pattern: str, seed: int, number: int) -> Any:
    """Call `number`: every second one from a schema, in turn, the others from an expression that is right."""
    from hostile import EXPRESSIONS, draw, spoil

    random = Random(f"{seed}/{number}")
    right = [text for text in EXPRESSIONS if re.search(pattern, text)]
    if right and number % 2:
        return spoil(random.choice(right), random)
    return draw(rows[number // 2 % len(rows)], random)


def attempt(rows: list[Any], given: Range, number: int, note: Any) -> tuple[str, str]:
    """Make one call. Return its outcome and its text."""
    call = drawn(rows, given.pattern, given.seed, number)
    note(number, str(call))
    try:
        use(call.function(*call.args, **call.kwargs))
    except DOCUMENTED as error:
        return next(kind.__name__ for kind in DOCUMENTED if isinstance(error, kind)), str(call)
    except AssertionError as error:
        # the API's own type for a padding_idx out of range, and for nothing else
        return "AssertionError" if "adding_idx" in str(error) else f"undocumented: {error!r}", str(
            call
        )
    except Exception as error:  # noqa: BLE001 - any other type is what we look for
        return f"undocumented: {type(error).__name__}: {error}", str(call)
    return "result", str(call)


def use(result: Any) -> None:
    """Read what came back, and send a gradient through it: memory that is wrong shows when it is touched."""
    import taeda

    for value in result if isinstance(result, (tuple, list)) else (result,):
        if (
            isinstance(value, taeda.Tensor)
            and value.device.type == "cpu"
            and value.numel() < 1 << 16
        ):
            plain(value.detach().clone()).tolist()
            if value.requires_grad and value.grad_fn is not None:
                value.sum().abs().backward()


def plain(x: Any) -> Any:
    """The elements that a tensor of any kind stores."""
    import taeda

    if type(x) is not taeda.Tensor and hasattr(x, "get_data"):
        return x.get_data()
    if x.is_quantized:
        return x.int_repr()
    if isinstance(x, taeda.sparse.SparseSemiStructuredTensor):
        return x.to_dense()
    if x.is_nested:
        return x.values()
    if x.layout is taeda.strided:
        return x
    return x._values() if x.layout is taeda.sparse_coo else x.values()


Judge = Callable[[Counter[str], int], bool]


def run(
    options: argparse.Namespace,
    script: str = __file__,
    judge: Judge | None = None,
    ranges: list[tuple[int, int]] | None = None,
) -> int:
    """Children of a script side by side over all numbers. Print every finding, then the counts.

    What children count under names with a tab is no end of a call: `judge` gets it, with the number
    of calls, and says whether it will do.
    """
    if ranges is None:
        starts = range(0, options.calls, BATCH)
        ranges = [(start, min(BATCH, options.calls - start)) for start in starts]
    counts: Counter[str] = Counter()
    findings: list[str] = []
    waiting = iter(ranges)
    with tempfile.TemporaryDirectory() as folder:
        for made, found in batches(script, waiting, options, Path(folder)):
            counts += made
            findings += found
            for line in found:
                print(line, flush=True)
            if len(findings) >= options.enough:
                break
    told = Counter({name: counts.pop(name) for name in list(counts) if "\t" in name})
    total = sum(counts.values())
    print(", ".join(f"{number} {kind}" for kind, number in counts.most_common()))
    print(f"{total} calls, {len(findings)} findings")
    enough = judge is None or judge(told, total)
    return int(bool(findings) or total == 0 or not enough)


def batches(
    script: str, waiting: Iterator[tuple[int, int]], options: argparse.Namespace, folder: Path
) -> Iterator[tuple[Counter[str], list[str]]]:
    """Results of batch after batch; a batch whose child died goes on behind the call that killed it."""
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    with ThreadPoolExecutor(options.jobs) as threads:
        running: set[Future[Any]] = set()
        for batch in itertools.chain(waiting, itertools.repeat(None)):
            if batch is not None:
                running.add(threads.submit(batch_of, script, *batch, options, folder))
            if not running:
                return
            if batch is None or len(running) >= options.jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)


def batch_of(
    script: str, first: int, count: int, options: argparse.Namespace, folder: Path
) -> tuple[Counter[str], list[str]]:
    """One batch: results by kind, and findings."""
    given = Range(options.seed, first, count, options.ops)
    made = supervise(script, given, folder, options.limit)
    deaths = [f"{options.seed}/{d.number} {d.text}\n    {d.ending}" for d in made.deaths]
    return made.counts, deaths + made.found


def again(which: str, pattern: str) -> None:
    """Make one call in this process, for a debugger."""
    seed, number = map(int, which.split("/"))
    call = drawn(chosen_rows(pattern), pattern, seed, number)
    print(call, flush=True)
    result = call.function(*call.args, **call.kwargs)
    use(result)
    print("->", result)


def add_options(parser: argparse.ArgumentParser, calls: int) -> None:
    """What can be said about a run."""
    parser.add_argument("--calls", type=int, default=calls)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--ops", default="", help="only operations whose name matches this expression"
    )
    parser.add_argument("--jobs", type=int, default=2, help="children side by side")
    parser.add_argument("--enough", type=int, default=50, help="stop after this many findings")
    parser.add_argument("--again", metavar="SEED/NUMBER", help="make one call in this process")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a child")
    parser.add_argument("--kinds", type=float, help="share of calls with tensors of another kind")


def share_of_kinds(options: argparse.Namespace) -> None:
    """Tell children and this process how many calls have tensors of another kind."""
    if options.kinds is not None:
        os.environ["TAEDA_FUZZ_KINDS"] = str(options.kinds)


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_options(parser, calls=100_000)
    options = parser.parse_args()
    share_of_kinds(options)
    if options.again:
        again(options.again, options.ops)
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
