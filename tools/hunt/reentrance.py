"""Call every operation with arguments that change the other arguments while they are read.
No call may die, hang or read what is not its own.

    python tools/hunt/reentrance.py                     50,000 calls
    python tools/hunt/reentrance.py --ops "cat|sum"     operations whose name matches
    python tools/hunt/reentrance.py --again 0/4711      make call 4711 of seed 0 once more, in this process
    python tools/hunt/reentrance.py --coverage          print for every operation how often which kind
                                                   of argument acted

A call is drawn as fuzz.py draws it, and then one or two of its arguments are armed: an int with an
`__index__`, a number of numpy's with an `item`, a list with an `__iter__` and a `__len__`, a tensor
with a `__torch_function__`, something that acts when it is deleted, a hook on a tensor or on what
is saved. What they do is drawn too: `x.data =`, set_, resize_, share_memory_, swap_tensors,
list.clear() and the like, on the tensors and lists of the call. In every fourth call another thread
does it, while kernels run without the interpreter lock. Under the address sanitizer a use of freed
memory is a death; without it only the gross ones are.

At the end stands how often an armed argument acted within a call, by operation and kind. An
operation in whose calls none ever did is a fault when each had calls enough, unless UNREACHED says
why.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import os
import resource
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import fuzz
from fuzz_children import Range, run_as_child

MEMORY = 6 << 30  # address space of a child, where no sanitizer needs terabytes of it

CALLS_A_ROW = 12  # of a run that is judged by what it reached

#: operations in whose calls nothing acts, and why
UNREACHED: dict[str, str] = {}

Action = Callable[[], Any]


# ---- what is done ----


def changes(x: Any) -> list[tuple[str, Action]]:
    """What can be done to a tensor behind the back of whoever reads it."""
    import taeda

    def data() -> None:
        x.data = taeda.zeros(1, dtype=x.dtype)

    return [
        ("data", data),
        ("set_()", lambda: x.set_()),
        ("set_(other)", lambda: x.set_(taeda.zeros(2, 3, dtype=x.dtype))),
        ("resize_(0)", lambda: x.resize_(0)),
        ("resize_(more)", lambda: x.resize_(x.numel() * 2 + 300)),
        ("storage", lambda: x.untyped_storage().resize_(x.untyped_storage().nbytes() * 2 + 999)),
        ("share_memory_", lambda: x.share_memory_()),
        ("swap", lambda: taeda.utils.swap_tensors(x, taeda.zeros(3, dtype=x.dtype))),
        ("t_", lambda: x.transpose_(0, -1)),
        ("unsqueeze_", lambda: x.unsqueeze_(0)),
        ("as_strided_", lambda: x.as_strided_((1,), (1,))),
        ("zero_", lambda: x.zero_()),
        ("grad", lambda: setattr(x, "grad", None)),
        ("requires_grad_", lambda: x.requires_grad_(not x.requires_grad)),
    ]


def disturb(items: list[Any], random: Random) -> list[tuple[str, Action]]:
    """What can be done to a list."""
    return [
        ("clear", items.clear),
        ("append", lambda: items.append(1)),
        ("pop", lambda: items and items.pop()),
        ("None", lambda: items.__setitem__(slice(None), [None] * len(items))),
        ("grow", lambda: items.extend(items[:50])),
        ("reverse", items.reverse),
    ]


class Mischief:
    """Actions that are drawn for one call, done once each time that somebody is asked for something."""

    def __init__(self, values: list[Any], random: Random) -> None:
        import taeda

        found: list[tuple[str, Action]] = []
        for value in flat(values):
            found += changes(value) if isinstance(value, taeda.Tensor) else disturb(value, random)
        chosen = random.sample(found, min(len(found), random.choice((1, 1, 2, 3))))
        self.names = [name for name, _ in chosen]
        self.actions, self.busy = [action for _, action in chosen], False
        self.armed: list[tuple[str, Counted]] = []

    def __call__(self, *_: Any, **__: Any) -> None:
        if self.busy:
            return
        self.busy = True
        for action in self.actions:
            with contextlib.suppress(*fuzz.DOCUMENTED, AttributeError):
                action()
        self.refill()
        self.busy = False

    def refill(self) -> None:
        """Other things in the memory that was let go."""
        import taeda

        self.kept = [taeda.full((size,), 9.0) for size in (1, 4, 16, 64, 300, 1000) * 3]


class Counted:
    """What one armed argument does, and whether it did."""

    def __init__(self, act: Action) -> None:
        self.act, self.acted = act, False

    def __call__(self, *_: Any, **__: Any) -> None:
        self.acted = True
        self.act()


def flat(values: list[Any]) -> Iterator[Any]:
    """The tensors and lists among the arguments, and in them."""
    import taeda

    for value in values:
        if isinstance(value, (list, tuple)):
            if isinstance(value, list):
                yield value
            yield from flat(list(value))
        elif isinstance(value, taeda.Tensor):
            yield value


# ---- who does it ----


def armed_types() -> dict[str, Any]:
    import numpy as np

    import taeda

    class Index:
        def __init__(self, value: Any, act: Action) -> None:
            self.value, self.act = value, act

        def __repr__(self) -> str:
            return f"Index({self.value})"

        def __index__(self) -> int:
            self.act()
            return int(self.value)

        __int__ = __index__

        def __float__(self) -> float:
            self.act()
            return float(self.value)

    class Number(np.float32):  # no float, so that it is asked
        act: Action

        def item(self, *args: Any) -> Any:
            self.act()
            return float(self)

    class Items(list):  # type: ignore[type-arg] # of anything
        act: Action

        def __iter__(self) -> Any:
            self.act()
            return super().__iter__()

        def __len__(self) -> int:
            self.act()
            return super().__len__()

        def __getitem__(self, key: Any) -> Any:
            self.act()
            return super().__getitem__(key)

    class Own(taeda.Tensor):
        act: Action

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            for value in flat([*args, *(kwargs or {}).values()]):
                if isinstance(value, Own) and "act" in value.__dict__:
                    value.act()
            return super().__torch_function__(func, types, args, kwargs or {})

    class Last(taeda.Tensor):
        act: Action

        def __del__(self) -> None:
            if "act" in self.__dict__ and not sys.is_finalizing():
                self.act()

    return {"Index": Index, "Number": Number, "Items": Items, "Own": Own, "Last": Last}


def arm(value: Any, act: Action, random: Random, types: dict[str, Any]) -> tuple[str, Any]:
    """An argument that acts when it is asked, in place of one that does not; ("", value) for what
    cannot be armed.
    """
    import taeda

    made: Any
    if isinstance(value, bool) or value is None or isinstance(value, (str, bytes)):
        return "", value
    if isinstance(value, int):
        return "Index", types["Index"](value, act)
    if isinstance(value, float):
        made = types["Number"](value)
        made.act = act
        return "Number", made
    if isinstance(value, (list, tuple)):
        if value and random.random() < 0.7:
            items, at = list(value), random.randrange(len(value))
            name, items[at] = arm(items[at], act, random, types)
            return f"[{name}]", items
        made = types["Items"](value)
        made.act = act
        return "Items", made
    if isinstance(value, taeda.Tensor):
        if (
            value.layout is not taeda.strided
            or value.is_quantized
            or type(value) not in (taeda.Tensor, taeda.nn.Parameter)
        ):
            return "", value  # it has no memory for a subclass to share
        if value.requires_grad and value.is_leaf and random.random() < 0.5:
            value.register_hook(act)
            return "hook", value
        kind = random.choice(("Own", "Last"))
        made = value.detach().as_subclass(types[kind])
        made.act = act
        return kind, made.requires_grad_(value.requires_grad)
    return "", value


def prepared(call: Any, random: Random, types: dict[str, Any]) -> tuple[str, Any, Mischief]:
    """The call with armed arguments: its text, itself, and what they do."""
    args = [list(a) if isinstance(a, tuple) else a for a in call.args]
    places: list[Any] = [*range(len(args)), *call.kwargs]
    values: Any = dict(enumerate(args)) | dict(call.kwargs)
    mischief = Mischief(list(values.values()), random)
    names = []
    random.shuffle(places)
    for place in places[: random.choice((1, 2, 2))]:
        act = Counted(mischief)
        name, values[place] = arm(values[place], act, random, types)
        names.append(f"{place}:{name}")
        mischief.armed.append((name, act))
    call.args = [values[k] for k in range(len(args))]
    call.kwargs = {k: values[k] for k in call.kwargs}
    return f"{call} armed {' '.join(names)} to {' '.join(mischief.names)}", call, mischief


# ---- one call ----


def make(rows: list[Any], given: Range, number: int, note: Any) -> tuple[str, list[str]]:
    """Draw, arm and make one call. Return how it ended, and the kinds of armed arguments that acted."""
    random = Random(f"arm {given.seed}/{number}")
    call = fuzz.drawn(rows, given.pattern, given.seed, number)
    text, call, mischief = prepared(call, random, armed_types())
    kind = ("plain", "plain", "saved", "thread")[number // 2 % 4]  # every second is of a row
    note(number, f"{kind} {text}")
    with contextlib.ExitStack() as stack:
        if kind == "saved":
            mischief.armed.append(("saved", stack.enter_context(saved(mischief))))
        if kind == "thread":
            mischief.armed.append(("thread", stack.enter_context(beside(mischief))))
        ended = end(call)
        call.args.clear()
        call.kwargs.clear()
    return ended, [name for name, act in mischief.armed if act.acted]


def end(call: Any) -> str:
    """Make the call. Return how it ended."""
    try:
        result = call.function(*call.args, **call.kwargs)
        call.args.clear()  # now a graph alone may hold what it was given, until backward lets it go
        call.kwargs.clear()
        fuzz.use(result)
    except fuzz.DOCUMENTED as error:
        return next(k.__name__ for k in fuzz.DOCUMENTED if isinstance(error, k))
    except (AttributeError, AssertionError, BufferError):
        return "other"  # of Python code that looks at what was changed under it
    return "result"


@contextlib.contextmanager
def saved(mischief: Action) -> Iterator[Counted]:
    """Hooks that act when a tensor is saved for backward, and when it is taken out again."""
    import taeda

    act = Counted(mischief)

    def hook(value: Any) -> Any:
        act()
        return value

    with taeda.autograd.graph.saved_tensors_hooks(hook, hook):
        yield act


@contextlib.contextmanager
def beside(mischief: Action) -> Iterator[Counted]:
    """Another thread that acts over and over."""
    stop, act = threading.Event(), Counted(mischief)

    def run() -> None:
        for _ in itertools.takewhile(lambda _: not stop.is_set(), range(200)):
            act()

    thread = threading.Thread(target=run)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        yield act
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Make the calls of a range, in a child."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None  # finalizers raise here, and are told so elsewhere
    rows = fuzz.chosen_rows(given.pattern)
    for number in range(given.first, given.first + given.count):
        ended, acted = make(rows, given, number, note)
        yield ended, None
        if number % 2 == 0:  # drawn from a row, not from an expression
            name = rows[number // 2 % len(rows)].schema.qualified
            for kind in ("calls", *acted):
                yield f"{name}\t{kind}", None
        if number % 50 == 0:
            gc.collect()


# ---- what was reached ----


def table(told: Counter[str]) -> dict[str, Counter[str]]:
    """Calls in which each kind of armed argument acted, by operation."""
    rows: dict[str, Counter[str]] = {}
    for name, count in told.items():
        row, _, kind = name.partition("\t")
        rows.setdefault(row, Counter())[kind] += count
    return rows


def unreached(rows: dict[str, Counter[str]]) -> list[str]:
    """Operations in whose calls nothing acted, though there were calls enough, and that give no reason."""
    return [
        name
        for name, kinds in sorted(rows.items())
        if kinds["calls"] >= CALLS_A_ROW
        and not kinds.total() - kinds["calls"]
        and name not in UNREACHED
    ]


def judged(told: Counter[str], every: bool) -> bool:
    """Print what was reached, and what was not. Whether that will do."""
    rows = table(told)
    kinds = Counter[str]()
    for row in rows.values():
        kinds += row
    cells = [
        f"{kind} {n} in {sum(1 for r in rows.values() if r[kind])} operations"
        for kind, n in kinds.most_common()
    ]
    print("acted:", ", ".join(cells))
    if every:
        for name, row in sorted(rows.items()):
            print(f"  {name}: " + ", ".join(f"{kind} {n}" for kind, n in sorted(row.items())))
    missed = unreached(rows)
    for name in missed:
        print(f"never reached: {name} ({rows[name]['calls']} calls)")
    few = sum(1 for row in rows.values() if row["calls"] < CALLS_A_ROW)
    if few:
        print(f"{few} operations had fewer than {CALLS_A_ROW} calls and are not judged")
    return not missed


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    fuzz.add_options(parser, calls=50_000)
    parser.add_argument("--coverage", action="store_true", help="what acted in every operation")
    options = parser.parse_args()
    if options.again:
        seed, number = map(int, options.again.split("/"))
        rows, given = fuzz.chosen_rows(options.ops), Range(seed, number, 1, options.ops)
        print("->", make(rows, given, number, lambda _, text: print(text, flush=True)))
        return 0
    return fuzz.run(options, __file__, lambda told, _: judged(told, options.coverage))


if __name__ == "__main__":
    sys.exit(main())
