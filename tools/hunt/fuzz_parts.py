"""Use what lies above the op table with hostile numbers, in child processes.
None may die, hang, or raise what is not documented.

    python tools/hunt/fuzz_parts.py                      50,000 uses
    python tools/hunt/fuzz_parts.py --ops "LSTM|Adam"    parts whose name matches
    python tools/hunt/fuzz_parts.py --again 0/4711       make use 4711 of seed 0 once more, in this process

A use makes a module, an optimizer, a schedule, a distribution, a sampler, a loader or a tensor of
another kind (fuzz_kinds.py), or calls a function of Python's, with arguments of the right types and
values that nobody expects, and does with it what programs do: runs it, derives, steps, draws,
copies. What it is follows from its number alone. Time that a program asks for (a billion layers) is
no hang: after SECONDS a use is left.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import fuzz
from fuzz_children import Range, run_as_child
from fuzz_kinds import FUNCTIONS, argument_by_name, use_kind
from hostile_kinds import KINDS, drawn_kind

SECONDS = 4.0  # a use
MEMORY = 6 << 30

#: parts that are not asked, and why
APART = {
    "DataParallel": "made for devices",
    "DistributedDataParallel": "made for ranks",
    "DistributedSampler": "made for ranks",
    "get_worker_info": "takes nothing",
    "Container": "old name without a use",
    **dict.fromkeys(("compare", "sensitivity", "quantize_", "load_quantized_"), "take a model"),
    "as_sparse_gradcheck": "takes a function",
    "Independent": "made of another distribution",
}
#: exceptions of other types that are the API's own, by what they say
PROMISED = {"KeyError": "initial_lr"}
SMALL = (1, 2, 2, 4, 4, 4)
WORDS = ("mean", "sum", "none", "zeros", "reflect", "circular", "relu", "gelu", "tanh", "linear",
    "nearest", "bilinear", "constant")  # fmt: skip
#: names of arguments without a type of their own that are sizes
SIZES = ("size", "stride", "padding", "dilation", "shape", "scale_factor", "groups", "channels")


class Slow(BaseException):
    """A use that takes the time that it asks for."""


class Unknown(BaseException):
    """A part that wants what nobody here can make."""


# ---- arguments ----


def number(random: Random) -> int:
    from hostile import INTS

    return random.choice(INTS) if random.random() < 0.12 else random.choice(SMALL)


def real(random: Random) -> float:
    from hostile import FLOATS

    return random.choice(FLOATS) if random.random() < 0.3 else random.choice((0.1, 0.5, 1.0, 2.0))


def tensor(random: Random, dims: int | None = None) -> Any:
    """Mostly of a shape and dtype that fit the small numbers."""
    from hostile import DTYPES, Near, _tensor

    many = random.choice((1, 2, 2, 3, 3, 4, 5)) if dims is None else dims
    shape = tuple(random.choice((1, 2, 4, 4, 4)) for _ in range(many))
    if random.random() < 0.1:
        shape = random.choice(((), (0,), (0, 4), (4, 0), (1,) * 64, (2, 0, 4)))
    more = (*DTYPES, "uint16", "uint32", "uint64", "complex32", "float8_e5m2fnuz", "float8_e8m0fnu")
    dtype = "float32" if random.random() < 0.7 else random.choice(more)
    if dtype in more[len(DTYPES) :]:
        import taeda

        return taeda.ones(shape).to(getattr(taeda, dtype))
    return _tensor(Near(shape, dtype, False, kind=drawn_kind(random)), random, certain=0.97)


def indices(random: Random) -> Any:
    from hostile import Near, _indices

    shape = tuple(random.choice((1, 2, 4)) for _ in range(random.choice((1, 1, 2))))
    return _indices(Near(shape, "int64", False), random)


def argument(parameter: inspect.Parameter, random: Random) -> Any:
    """A value of the right type for a parameter, by what it says of itself;
    `inspect.Parameter.empty` for none.
    """
    said, name = str(parameter.annotation), parameter.name
    has = parameter.default is not inspect.Parameter.empty
    if name in ("device", "dtype", "generator", "out", "validate_args") and has:
        return inspect.Parameter.empty
    known = argument_by_name(name, random)
    if known is not None and random.random() < 0.9:
        return known
    if "None" in said and random.random() < 0.3:
        return None
    if said.startswith("bool"):
        return random.random() < 0.5
    if said.startswith("int") or (said == "Any" and any(word in name for word in SIZES)):
        if said == "Any" and random.random() < 0.3:
            return tuple(number(random) for _ in range(random.choice((1, 2, 3))))
        return number(random)
    if said.startswith("float"):
        return real(random)
    if said.startswith("str"):
        return random.choice(WORDS)
    if said.startswith(("Sequence[int]", "tuple[int", "Size")):
        return tuple(number(random) for _ in range(random.choice((0, 1, 2, 3))))
    if said.startswith("tuple[float"):
        return tuple(real(random) for _ in range(said.count("float")))
    if "Tensor" in said or said == "Any":
        if has and random.random() < 0.5:
            return inspect.Parameter.empty
        if name in ("target", "indices", "index", "offsets") and random.random() < 0.7:
            return indices(random)
        return tensor(random) if said != "Any" or random.random() < 0.5 else number(random)
    return inspect.Parameter.empty


def bound(
    function: Callable[..., Any], random: Random, skip: int = 0
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a call, without its first `skip` parameters."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        optional = parameter.default is not parameter.empty
        if optional and random.random() < 0.6:
            continue
        value = argument(parameter, random)
        if value is inspect.Parameter.empty:
            if not optional:
                raise Unknown
            continue
        if optional or parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


# ---- what programs do with each kind ----


def use_module(cls: Any, random: Random, say: Any) -> None:
    """Make it, run it, derive, copy."""
    import taeda

    args, kwargs = bound(cls, random)
    say(args, kwargs)
    module = cls(*args, **kwargs)
    wanted = [
        p
        for p in inspect.signature(module.forward).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    dims = next((int(d) + random.choice((1, 2)) for d in "123" if f"{d}d" in cls.__name__), None)
    inputs = [
        indices(random) if random.random() < 0.15 or p.name == "target" else tensor(random, dims)
        for p in wanted
    ] or [tensor(random)]
    say(args, kwargs, inputs)
    if random.random() < 0.2:
        module = copy.deepcopy(module).eval()
        module.load_state_dict(module.state_dict())
    if random.random() < 0.1:
        module = module.to(
            random.choice((taeda.float64, taeda.bfloat16, taeda.float16, taeda.complex64))
        )
    repr(module)
    fuzz.use(module(*inputs))


def use_function(function: Any, random: Random, say: Any) -> None:
    args, kwargs = bound(function, random)
    say(args, kwargs)
    fuzz.use(function(*args, **kwargs))


def use_distribution(cls: Any, random: Random, say: Any) -> None:
    """Make it of numbers and tensors, draw, and ask for everything."""
    from taeda.distributions import constraints

    names = [
        n
        for n in (cls.arg_constraints if isinstance(cls.arg_constraints, dict) else {})
        if n in inspect.signature(cls).parameters
    ]
    kwargs: dict[str, Any] = {
        n: real(random)
        if random.random() < 0.4
        else tensor(random, random.choice((0, 1, 2, 3))).abs()
        for n in names
    }
    if "total_count" in kwargs and random.random() < 0.7:
        kwargs["total_count"] = number(random)
    if "probs" in kwargs and "logits" in kwargs:
        del kwargs[random.choice(("probs", "logits"))]
    if random.random() < 0.5:
        kwargs["validate_args"] = random.random() < 0.5
    args: list[Any] = [] if names else bound(cls, random)[0]
    say(args, kwargs)
    made = cls(*args, **kwargs)
    repr(made), made.batch_shape, made.event_shape
    shape = tuple(random.choice((0, 1, 2, 4)) for _ in range(random.choice((0, 1, 2))))
    value = tensor(random, len(made.batch_shape) + len(made.event_shape))
    asked = [
        lambda: made.sample(shape), lambda: made.rsample(shape),
        lambda: made.log_prob(made.sample(shape)), lambda: made.log_prob(value),
        lambda: made.cdf(value), lambda: made.icdf(value), made.entropy, lambda: made.mean,
        lambda: made.variance, lambda: made.mode,
        lambda: made.stddev, lambda: made.expand(shape + tuple(made.batch_shape)),
        made.enumerate_support, lambda: made.perplexity(),
        lambda: made.support.check(value) if isinstance(made.support, constraints.Constraint) else None,
    ]  # fmt: skip
    for ask in random.sample(asked, 4):
        try:
            fuzz.use(ask())
        except fuzz.DOCUMENTED:
            continue


def use_optimizer(cls: Any, random: Random, say: Any) -> None:
    """Steps with odd parameters and numbers, a schedule, a state that goes through its dict."""
    import taeda

    _, kwargs = bound(cls, random, skip=1)
    kwargs.pop("max_iter", None)
    leaves = [tensor(random).detach() for _ in range(random.choice((1, 1, 2, 3)))]
    say([leaves], kwargs)
    parameters = [taeda.nn.Parameter(t.clone() if random.random() < 0.7 else t) for t in leaves]
    optimizer = cls(parameters, **kwargs)
    for p in parameters:
        if random.random() < 0.85:
            p.grad = (
                taeda.ones_like(p) if random.random() < 0.5 else taeda.full_like(p, real(random))
            )

    def closure() -> Any:
        return sum((p.real if p.is_complex() else p).float().sum() for p in parameters)

    schedules = [getattr(taeda.optim.lr_scheduler, n) for n in taeda.optim.lr_scheduler.__all__]
    schedule: Any = None
    if random.random() < 0.5:
        made = random.choice([s for s in schedules if isinstance(s, type)])
        args, more = bound(made, random, skip=1)
        say([leaves], {**kwargs, "schedule": made.__name__}, args, more)
        schedule = made(optimizer, *args, **more)
    for _ in range(2):
        optimizer.step(closure) if cls.__name__ == "LBFGS" else optimizer.step()
        if schedule is not None:
            schedule.step(
                *(
                    [real(random)]
                    if "metrics" in inspect.signature(schedule.step).parameters
                    else []
                )
            )
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.zero_grad(set_to_none=random.random() < 0.5)
    repr(optimizer)


def use_data(cls: Any, random: Random, say: Any) -> None:
    """Data sets, samplers and loaders, and batches of what data sets may give."""
    import taeda

    data = taeda.utils.data
    rows = [tensor(random) for _ in range(random.choice((0, 1, 2, 3)))]
    samples: list[Any] = random.choice(
        (
            list(range(8)),
            rows,
            [(r, 1.5) for r in rows],
            [{"a": r, "b": "c"} for r in rows],
            [[1, [2, 3]]] * 3,
        )
    )
    if cls is data.default_collate:
        say([samples], {})
        fuzz.use(cls(samples))
        return
    args, kwargs = bound(cls, random, skip=1)
    for name in (
        "num_workers",
        "pin_memory",
        "multiprocessing_context",
        "persistent_workers",
        "prefetch_factor",
        "timeout",
        "pin_memory_device",
        "sampler",
        "batch_sampler",
        "collate_fn",
        "worker_init_fn",
    ):
        kwargs.pop(name, None)
    first: list[Any] = [samples]
    if cls is data.TensorDataset:
        first = rows
    if cls in (data.ConcatDataset, data.StackDataset, data.ChainDataset):
        first = [[samples, rows]]
    say([*first, *args], kwargs)
    made = cls(*first, *args, **kwargs)
    for _, item in zip(
        range(12),
        made if hasattr(made, "__iter__") else (made[i] for i in range(min(len(made), 3))),
        strict=False,
    ):
        fuzz.use(item)
    len(made)


# ---- which there are ----


def parts(pattern: str) -> list[tuple[str, Any, Callable[[Any, Random, Any], None]]]:
    """Everything public of these packages whose name matches: (name, itself, how it is used)."""
    import re

    import taeda

    found: list[tuple[str, Any, Any]] = []

    def add(package: str, names: Any, how: Any, wanted: Callable[[Any], bool]) -> None:
        module: Any = sys.modules[package]
        for name in sorted(names):
            value = getattr(module, name)
            if wanted(value) and name not in APART and re.search(pattern, f"{package}.{name}"):
                found.append((f"{package.removeprefix('taeda.')}.{name}", value, how))

    is_class, is_function = inspect.isclass, inspect.isfunction
    nn, optim, distributions, data = taeda.nn, taeda.optim, taeda.distributions, taeda.utils.data
    modules = lambda v: is_class(v) and issubclass(v, nn.Module) and v is not nn.Module  # noqa: E731
    add("taeda.nn", nn.__all__, use_module, modules)
    for package in (
        "taeda.nn.functional",
        "taeda.nn.init",
        "taeda.functional",
        "taeda.signal.windows",
        "taeda.nn.utils.rnn",
        "taeda.quasirandom",
        *FUNCTIONS,
    ):
        __import__(package)
        names = [n for n in dir(sys.modules[package]) if n[0] != "_"]
        add(
            package,
            names,
            use_function,
            lambda v, p=package: is_function(v) and v.__module__.startswith(p),
        )
    add(
        "taeda.optim",
        optim.__all__,
        use_optimizer,
        lambda v: is_class(v) and v.__name__ != "Optimizer",
    )
    kind = distributions.Distribution
    add(
        "taeda.distributions",
        distributions.__all__,
        use_distribution,
        lambda v: is_class(v) and issubclass(v, kind) and v is not kind,
    )
    add(
        "taeda.utils.data",
        data.__all__,
        use_data,
        lambda v: (
            v is data.default_collate
            or (is_class(v) and v.__name__.endswith(("Sampler", "Dataset", "DataLoader", "Subset")))
        ),
    )
    kinds = [(f"kind.{name}", name, use_kind) for name in (*KINDS, "")]
    return found + [row for row in kinds if re.search(pattern, row[0])]


# ---- one use ----


def attempt(found: list[Any], given: Range, at: int, note: Any) -> tuple[str, str]:
    """Make one use. Return its outcome and its text."""
    import taeda

    random = Random(f"part {given.seed}/{at}")
    taeda.manual_seed(at)
    name, part, how = found[at % len(found)]
    text = name

    def say(*what: Any) -> None:
        nonlocal text
        from hostile import spell

        text = (
            f"{name} "
            f"{', '.join(f'{k}={spell(v)}' for w in what if isinstance(w, dict) for k, v in w.items())} "
            f"{[spell(w) for w in what if not isinstance(w, dict)]}"
        )
        note(at, text)

    note(at, text)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        how(part, random, say)
    except fuzz.DOCUMENTED as error:
        return next(k.__name__ for k in fuzz.DOCUMENTED if isinstance(error, k)), text
    except AssertionError as error:
        return (
            "AssertionError" if str(error) else f"undocumented: AssertionError{where(error)}"
        ), text
    except Slow:
        return "left", text
    except Unknown:
        return "unknown", text
    except Exception as error:  # noqa: BLE001 - any other type is what we look for
        if PROMISED.get(type(error).__name__, "\0") in str(error):
            return type(error).__name__, text
        return f"undocumented: {type(error).__name__}: {error}{where(error)}", text
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "result", text


def where(error: BaseException) -> str:
    """The last line of ours that it came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/taeda/" in f.filename]
    return (
        f" at {frames[-1].filename.rpartition('/taeda/')[2]}:{frames[-1].lineno}" if frames else ""
    )


def leave(*_: Any) -> None:
    raise Slow


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Make the uses of a range, in a child."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, leave)
    found = parts(given.pattern)
    for at in range(given.first, given.first + given.count):
        outcome, text = attempt(found, given, at, note)
        wrong = outcome.startswith("undocumented")
        yield outcome.partition(":")[0], f"{given.seed}/{at} {text} -> {outcome}" if wrong else None


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    fuzz.add_options(parser, calls=50_000)
    options = parser.parse_args()
    fuzz.share_of_kinds(options)
    if options.again:
        seed, at = map(int, options.again.split("/"))
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, leave)
        found = parts(options.ops)
        print(
            attempt(
                found, Range(seed, at, 1, options.ops), at, lambda _, text: print(text, flush=True)
            )
        )
        return 0
    return fuzz.run(options, __file__)


if __name__ == "__main__":
    sys.exit(main())
