"""Random programs as graphs, as .pt2 files and as ONNX models, at several batches.

    python tools/hunt/exported_programs.py                      a share of one minute
    python tools/hunt/exported_programs.py --programs 5000 --seed 40000 --jobs 2
    python tools/hunt/exported_programs.py --one 40017          one program, as text

Each program has a free batch, is exported at 4 and runs at 4, 1 and 9. The program and its file must
give the module's bits, with its sizes and dtypes, and onnxruntime, where it is installed, its numbers
to 1e-3: some of them round to half on the way. Half of the programs give sizes as well, and numbers
and answers that follow from sizes. Refusals by the documented errors are counted by what
they say; other errors are findings, as differences are. Onnxruntime runs in the process of the hunt:
parts of it are children, one of which may die.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import functools
import importlib.util
import io
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import taeda
import taeda.export
import taeda.onnx
from taeda import nn
from taeda.export import Dim
from taeda.export.graph_signature import ConstantArgument
from taeda.utils._pytree import tree_leaves

F: Any = nn.functional
BATCHES = (4, 1, 9)
DTYPES = {int: taeda.int64, float: taeda.float64, bool: taeda.bool}  # of numbers in a model
PART = 100  # programs of one child
REFUSALS = ("UserError", "OnnxExporterError", "SymbolicValueError", "NotImplementedError")

UNARY = (
    "{a}.relu()", "{a}.sigmoid()", "{a}.tanh()", "{a}.clamp(-2, 2).exp()", "{a}.abs()", "-{a}",
    "({a}.abs() + 0.5).sqrt()", "{a}.abs().log1p()", "F.gelu({a})", "F.silu({a})", "{a}.erf()",
    "F.softplus({a})", "{a}.sin()", "{a}.cos()", "({a}.abs() + 1).rsqrt()", "{a}.clamp(min=-0.5)",
    "{a}.square()", "F.leaky_relu({a}, 0.2)", "F.elu({a})", "F.hardtanh({a})", "{a}.reciprocal()",
    "{a}.nan_to_num(0.5, 3.0, -3.0)", "F.hardswish({a})", "{a} ** 2", "1 / ({a}.abs() + 1)",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / ({b}.abs() + 1)", "taeda.maximum({a}, {b})",
    "taeda.minimum({a}, {b})", "taeda.where({a} > {b}, {a}, {b})", "({a}.abs() + 1) ** {b}.tanh()",
    "taeda.lerp({a}, {b}, 0.3)", "{a}.masked_fill({b} > 0, 0.25)", "taeda.atan2({a}, {b}.abs() + 1)",
    "taeda.addcmul({a}, {b}, {b}, value=0.5)", "{a}.where({b} < 0, 0.5)", "({a} < {b}).float()",
    "taeda.stack([{a}, {b}], {d})", "taeda.cat([{a}, {b}], {d})", "{a} @ {b}.transpose(-1, -2)",
    "taeda.hypot({a}, {b})", "{a}.logical_and({b} > 0).float()", "{a}.copysign({b})",
)  # fmt: skip
REDUCED = (
    "{a}.sum({d}, keepdim={k})", "{a}.mean({d}, keepdim={k})", "{a}.amax({d}, keepdim={k})",
    "{a}.amin({d}, keepdim={k})", "{a}.var({d}, correction=0, keepdim={k})", "{a}.cumsum({d})",
    "{a}.logsumexp({d}, keepdim={k})", "{a}.softmax({d})", "{a}.log_softmax({d})", "{a}.max()",
    "{a}.norm(dim={d}, keepdim={k})", "{a}.sum()", "{a}.mean()", "({a} > 0).any({d}).float()",
    "({a} > -1).all({d}).float()", "{a}.sort({d})[0]", "{a}.max({d})[0]", "{a}.tanh().cumprod({d})",
    "{a}.tanh().prod({d}, keepdim={k})", "({a} > 0).sum({d}).float()", "F.normalize({a}, dim={d})",
)  # fmt: skip
VIEWS = (
    "{a}.transpose({d}, -1)", "{a}.reshape({a}.shape[0], -1)", "{a}.flatten()", "{a}.unsqueeze({d})",
    "{a}.flatten(1)", "{a}.chunk(2, {d})[0]", "{a}.chunk(3, {d})[-1]", "{a}.split(2, {d})[0]",
    "{a}.narrow({d}, 0, 1)", "{a}[::2]", "{a}[..., 1:]", "{a}[:, -1]", "{a}[0]", "{a}.flip({d})",
    "{a}.roll(1, {d})", "{a}.roll(2)", "{a}.unbind({d})[0]", "{a}.select({d}, -1)", "{a}.tril()",
    "{a}.repeat(2, *[1] * ({a}.dim() - 1))", "F.pad({a}, (1, 2))", "F.pad({a}, (-1, 1), value=0.5)",
    "{a}.movedim(0, -1)", "{a}.triu(1)", "{a}.diagonal()", "{a}.expand(2, *{a}.shape)",
    "{a}.repeat_interleave(2, {d})", "{a}.reshape(-1, {a}.shape[-1])", "{a}.unfold({d}, 2, 1)",
    "{a}[:, None]", "{a}[..., taeda.tensor([0, -1])]", "{a}.contiguous()", "{a}.detach()",
    "{a}.index_select({d}, taeda.tensor([0]))", "{a}.reshape({a}.shape[0] * 2, -1)", "{a}.t()",
    "{a}.new_zeros({a}.shape[0], 2) + 1", "taeda.arange({a}.shape[0]) * 0.5", "{a}.double().float()",
    "taeda.ones_like({a}) * {a}.shape[0]", "{a} / {a}.shape[0]", "{a}.half().float()", "{a}.long()",
    "taeda.full(({a}.shape[0],), 0.5)", "{a}.tile(2)", "{a}.squeeze()", "{a}.swapaxes(0, -1)",
    "{a}.gather({d}, {a}.argsort({d}))", "{a}.unflatten(-1, (2, -1))", "{a}.ravel()[1:]",
    "taeda.eye({a}.shape[0])", "{a}.new_full({a}.shape, 2.5)", "{a}.permute(*range({a}.dim()))[:2]",
    "{a}.topk(1, {d})[0]", "{a}.take_along_dim({a}.argmax({d}, keepdim=True), {d})", "{a}.mT",
)  # fmt: skip
IN_PLACE = (
    "{a}.clone().add_({b})", "{a}.clone().mul_(0.5)", "F.relu({a}.clone(), inplace=True)",
    "put({a}.clone(), 0, 0.5)", "put({a}.clone(), (..., slice(1)), {b}.mean())",
    "put({a}.clone(), slice(1, None), 2.0)", "{a}.clone().fill_(0.5)", "{a}.clone().clamp_(-1, 1)",
    "{a}.clone().zero_()", "put({a}.clone(), {a} > 0, 0.5)", "{a}.clone().copy_({b})",
)  # fmt: skip
LAYERS = (
    "F.layer_norm({a}, {a}.shape[-1:])", "{a} @ weight[: {a}.shape[-1]]", "F.normalize({a}, dim=-1)",
    "F.linear({a}, weight.t()[:, : {a}.shape[-1]])", "taeda.einsum('...i,...i->...', {a}, {b})",
    "F.avg_pool1d({a}, 2)", "F.max_pool1d({a}, 2)", "F.interpolate({a}, scale_factor=2)",
    "F.scaled_dot_product_attention({a}, {a}, {a})", "F.mse_loss({a}, {b})", "F.glu({a}, {d})",
    "F.adaptive_avg_pool1d({a}, 1)", "F.smooth_l1_loss({a}, {b})", "F.one_hot({a}.argmax(-1), 8).float()",
)  # fmt: skip
SIZES = (
    "{a}.shape[0]", "{a}.numel()", "{a}.shape", "{a}.shape[-1] * 2 + 1", "{a}.shape[0] // 2",
    "{a}.shape[0] % 3", "{a}.shape[0] / 4", "{a}.shape[0] > 3", "taeda.sym_max({a}.shape[0], 5)",
    "({a}.numel(), {a}.dim())", "{a}.size(0) - {b}.shape[0]", "taeda.sym_not({a}.shape[0] == 4)",
    "({a}.shape[0] > 1) & ({b}.numel() < 99)", "1 / ({a}.numel() + 1)", "{a}.stride()[:1]",
)  # fmt: skip


def put(tensor: Any, index: Any, value: Any) -> Any:
    tensor[index] = value
    return tensor


class Program(nn.Module):
    """Steps over a growing list of tensors; a result is what the last steps gave, or a size."""

    def __init__(self, steps: list[tuple[str, Any]], results: list[int], sizes: Any = ()) -> None:
        super().__init__()
        self.steps, self.results, self.sizes = steps, results, sizes
        self.register_buffer("weight", numbers(taeda.Size([16, 5])) * 0.3)

    def forward(self, x: Any, y: Any) -> Any:
        values = [x, y]
        for _, step in self.steps:
            values.append(step(values, self.weight))
        sizes = (size(values, self.weight) for _, size in self.sizes)
        return (*(values[k] for k in self.results), *sizes)


def numbers(shape: Any) -> Any:
    """Numbers that differ, of both signs, the same in every process."""
    count = shape.numel()
    return ((taeda.arange(count) * 7919 % 1009).float() / 250 - 2).reshape(shape)


def inputs(kind: int, batch: int) -> tuple[Any, Any]:
    shapes = [((batch, 6), (batch, 6)), ((batch, 3, 4), (batch, 3, 4)), ((batch, 5), (1, 5)),
              ((batch, 2, 6), (6,)), ((batch, 1, 4), (batch, 3, 4))][kind]  # fmt: skip
    x, y = (numbers(taeda.Size(s)) for s in shapes)
    return x, y * 0.7 + 0.1


def step_of(text: str) -> Any:
    source = f"lambda values, weight: {text}"
    return eval(source, {"taeda": taeda, "F": F, "put": put})


def drawn(chance: random.Random, count: int) -> str:
    table = chance.choices((UNARY, BINARY, REDUCED, VIEWS, IN_PLACE, LAYERS), (3, 3, 3, 5, 1, 2))[0]
    a, b = (f"values[{max(0, count - 1 - int(chance.expovariate(0.7)))}]" for _ in range(2))
    d, k = chance.choice((0, 1, -1, -1, 2)), chance.random() < 0.5
    return chance.choice(table).format(a=a, b=b, d=d, k=k)


def program(seed: int) -> tuple[Program, int]:
    """A program of 3 to 9 steps that runs at all batches; a step that does not is left out."""
    chance = random.Random(seed)
    kind = chance.randrange(5)
    given = {n: list(inputs(kind, n)) for n in BATCHES}
    weight = Program([], []).weight
    steps: list[tuple[str, Any]] = []
    wanted = chance.randint(3, 9)
    for _ in range(60):
        if len(steps) == wanted:
            break
        text = drawn(chance, len(steps) + 2)
        step = step_of(text)
        try:
            made = {n: step(values, weight) for n, values in given.items()}
        except (RuntimeError, IndexError, ValueError, TypeError, AttributeError):
            continue  # no program of these sizes
        tensors = list(made.values())
        if not all(isinstance(t, taeda.Tensor) and 0 < t.numel() < 5000 for t in tensors):
            continue
        if not all(bool(t.isfinite().all()) and t.abs().max() < 1e4 for t in tensors):
            continue
        for n, value in made.items():
            given[n].append(value)
        steps.append((text, step))
    results = sorted({len(steps) + 1, chance.randrange(2, len(steps) + 2)})
    return Program(steps, results, sizes_of(seed, given, weight)), kind


def sizes_of(seed: int, given: dict[int, list[Any]], weight: Any) -> list[tuple[str, Any]]:
    """Sizes among the results: none for every other program. They are drawn apart, so that the steps
    of a seed stay what they are.
    """
    chance = random.Random(f"{seed} sizes")
    made: list[tuple[str, Any]] = []
    for _ in range(chance.choice((0, 0, 1, 3))):
        a, b = (f"values[{chance.randrange(len(given[4]))}]" for _ in range(2))
        text = chance.choice(SIZES).format(a=a, b=b)
        size = step_of(text)
        try:
            for values in given.values():
                size(values, weight)
        except (IndexError, TypeError):
            continue  # a tensor without dimensions
        made.append((text, size))
    return made


def text_of(module: Program, kind: int) -> str:
    lines = [f"x, y of kind {kind}: {[tuple(t.shape) for t in inputs(kind, 4)]}"]
    lines += [f"values[{k}] = {text}" for k, (text, _) in enumerate(module.steps, 2)]
    return "\n".join([*lines, f"results {module.results} {[text for text, _ in module.sizes]}"])


# ---- the ways ----


def same(got: Any, wanted: Any) -> str:
    """What is other than wanted, in every bit; nothing if it is the same."""
    for k, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if not isinstance(b, taeda.Tensor):
            if type(a) is not type(b) or repr(a) != repr(b):
                return f"result {k} is {a!r}, wanted {b!r}"
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {k} is {a.dtype}{list(a.shape)}, wanted {b.dtype}{list(b.shape)}"
        if not a.equal(b):
            return f"result {k} differs by {(a.double() - b.double()).abs().max().item():.3g}"
    return ""


def tensors_of(made: Any, results: Any) -> list[Any]:
    """What a model of the program gives: its results but constants, numbers of Python as tensors."""
    specs = made.graph_signature.output_specs
    leaves = tree_leaves(results)
    kept = [
        v for v, s in zip(leaves, specs, strict=True) if not isinstance(s.arg, ConstantArgument)
    ]
    return [taeda.tensor(v, dtype=DTYPES[type(v)]) if type(v) in DTYPES else v for v in kept]


def on_edge(module: nn.Module, given: Any, wanted: Any, tensors: Any = list) -> bool:
    """Whether inputs that differ by rounding alone give other results of the module itself: a comparison
    or `argmax` decides by numbers that are equal but for it, as by the mean of a layer norm.
    """
    taeda.manual_seed(0)
    for _ in range(16):
        moved = [t + t.abs().max() * 1e-6 * taeda.randn_like(t) for t in given]
        if near([m.detach().numpy() for m in tensors(module(*moved))], wanted):
            return True
    return False


def near(got: Any, wanted: Any) -> str:
    import numpy as np

    for k, (a, tensor) in enumerate(zip(got, wanted, strict=True)):
        b = tensor.detach().numpy()
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {k} is {a.dtype}{list(a.shape)}, wanted {b.dtype}{list(b.shape)}"
        if not np.allclose(a, b, rtol=1e-3, atol=1e-3):
            return f"result {k} differs by {np.abs(a.astype('f8') - b).max():.3g}"
    return ""


def findings(seed: int, counts: collections.Counter[str]) -> Iterator[str]:
    """What is wrong with one program."""
    module, kind = program(seed)
    args = inputs(kind, 4)
    free = tuple({0: Dim.AUTO} if t.shape[0] == 4 else None for t in args)
    try:
        made = taeda.export.export(module, args, dynamic_shapes=free)
    except Exception as error:  # noqa: BLE001 - each is counted or found
        yield from refused("export", error, counts)
        return
    counts["exported"] += 1
    kept = io.BytesIO()
    ways: dict[str, Any] = {"graph": made.module()}
    try:
        taeda.export.save(made, kept)
        kept.seek(0)
        ways["pt2"] = taeda.export.load(kept).module()
    except Exception as error:  # noqa: BLE001
        yield from refused("pt2", error, counts)
    session, before = None, counts.copy()
    try:
        session = onnx_session(made) if importlib.util.find_spec("onnxruntime") else None
    except Exception as error:  # noqa: BLE001
        yield from refused("onnx", error, counts)
    for n in BATCHES:
        given = inputs(kind, n)
        wanted = module(*given)
        for name, way in ways.items():
            try:
                said = same(way(*given), wanted)
            except AssertionError:  # the program holds for fewer sizes, and says so
                counts[f"{name} not for a batch of {n}"] += 1
                continue
            except Exception as error:  # noqa: BLE001
                said = f"{type(error).__name__}: {str(error)[:160]}"
            if said:
                yield f"{name} at {n}: {said}"
            counts[f"{name} right"] += not said
        if counts[f"graph not for a batch of {n}"] > before[f"graph not for a batch of {n}"]:
            continue
        if session is not None:
            names = [i.name for i in session.get_inputs()]
            arrays = [t.numpy() for t in given]
            try:
                got = session.run(None, dict(zip(names, arrays, strict=True)))
            except Exception as error:  # noqa: BLE001
                yield f"onnx at {n}: {str(error)[:200]}"
                continue
            tensors = functools.partial(tensors_of, made)
            there = tensors(wanted)
            if (said := near(got, there)) and on_edge(module, given, there, tensors):
                counts["onnx on an edge"] += 1
                continue
            if said:
                yield f"onnx at {n}: {said}"
            counts["onnx right"] += not said


def onnx_session(made: Any) -> Any:
    import onnxruntime

    model = taeda.onnx.export(made, verify=False)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    data = b"".join(model.model.pieces())
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def refused(where: str, error: Exception, counts: collections.Counter[str]) -> Iterator[str]:
    said = f"{type(error).__name__}: {str(error)[:160]}".replace("\n", " ")
    missing = re.search(r"Could not find an implementation for (\w+)", str(error))
    if missing:  # the model is one, but onnxruntime has no kernel for the dtype
        counts[f"{where}: onnxruntime has no {missing[1]} of the dtype"] += 1
    elif type(error).__name__ in REFUSALS:
        counts[f"{where} refuses: {re.sub(r'[0-9]+', '#', said)[:110]}"] += 1
    else:
        yield f"{where} raises {said}"


# ---- many ----


def part(first: int, count: int) -> int:
    """A child: findings as lines, counts at the end."""
    warnings.simplefilter("ignore")
    taeda.set_num_threads(1)
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        print(f"AT {seed}", flush=True)
        for said in findings(seed, counts):
            print(f"FOUND {seed}: {said}", flush=True)
    for name, number in counts.items():
        print(f"COUNT {number} {name}")
    return 0


def child(first: int, count: int) -> tuple[list[str], collections.Counter[str]]:
    command = [sys.executable, __file__, "--part", str(first), "--programs", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    found = [line[6:] for line in lines if line.startswith("FOUND ")]
    counts: collections.Counter[str] = collections.Counter()
    for line in lines:
        if line.startswith("COUNT "):
            _, number, name = line.split(" ", 2)
            counts[name] += int(number)
    if done.returncode:
        last = [line for line in lines if line.startswith("AT ")][-1:]
        found.append(f"a child ended with {done.returncode} {last}: {done.stderr[-400:]}")
    return found, counts


def main(count: int, first: int, jobs: int, seconds: float) -> int:
    total: collections.Counter[str] = collections.Counter()
    found: list[str] = []
    began, ran = time.monotonic(), 0
    parts = [(at, min(PART, first + count - at)) for at in range(first, first + count, PART)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = iter(parts)
        going = {pool.submit(child, *p): p for _, p in zip(range(jobs), waiting, strict=False)}
        while going:
            done, _ = concurrent.futures.wait(going, return_when="FIRST_COMPLETED")
            for one in done:
                said, counts = one.result()
                ran += going.pop(one)[1]
                total += counts
                found += said
                print("\n".join(said), end="\n" if said else "", flush=True)
                if time.monotonic() - began < seconds and (more := next(waiting, None)):
                    going[pool.submit(child, *more)] = more
    for name, number in sorted(total.items(), key=lambda pair: -pair[1]):
        print(f"{number:7} {name}")
    print(f"{ran} programs of seeds from {first}: {len(found)} findings")
    return bool(found)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=None, help="60 without --programs")
    parser.add_argument("--one", type=int, help="show and run this program")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    given = options()
    if given.part is not None:
        sys.exit(part(given.part, given.programs))
    if given.one is not None:
        print(text_of(*program(given.one)))
        warnings.simplefilter("ignore")
        sys.exit("\n".join(findings(given.one, collections.Counter())) or 0)
    limit = given.seconds or (60.0 if given.programs == 100_000 else 1e9)
    sys.exit(main(given.programs, given.seed, given.jobs, limit))
