"""Does every operation survive that memory is out?
The n-th allocation of a call fails, for n = 1, 2, 3... until the call succeeds.

    python tools/hunt/fail_at.py                    # every row of the op table, then training steps and files
    python tools/hunt/fail_at.py --rows add,conv    # rows whose names begin so
    python tools/hunt/fail_at.py --part 0/4         # a quarter of the rows

A call may end in MemoryError and in nothing else, may leave no byte of storage allocated, and gives
afterwards what it gave before. Each row runs in a child process, so that a crash is a finding, too.
Prints what is wrong; the exit status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from coverage_of_rows import Coverage, note, noted

import taeda
from taeda import nn
from taeda._native import core
from taeda.nn import functional as F

MOST = 4000  # allocations of one call; none has nearly as many
SECONDS = 120  # for one row


def faults_of(call: Callable[[], Any]) -> list[str]:
    """What goes wrong with a call when each of its allocations fails in turn."""
    wanted = _outcome(call)
    if isinstance(wanted, Exception):
        note(wanted)
        return []  # a dtype that the row refuses
    note(None)
    found = []
    before = _allocated()
    for n in range(1, MOST):
        core.memory_fail_at(n)
        try:
            got = _outcome(call)
        finally:
            core.memory_fail_at(0)
        if not isinstance(got, Exception):
            break
        if not isinstance(got, MemoryError):
            found.append(f"allocation {n}: {type(got).__name__}: {str(got)[:200]}")
        del got
    else:
        found.append(f"still fails at allocation {MOST}")
    after = _allocated()
    if after > before:
        found.append(f"{after - before} bytes of storage stay")
    if _differ(_outcome(call), wanted):
        found.append("gives something else afterwards")
    return found


def _outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, as plain values; or its exception, without the frames that keep its tensors."""
    try:
        return _plain(call())
    except Exception as error:  # noqa: BLE001 - any is an outcome
        traceback.clear_frames(error.__traceback__)
        return error.with_traceback(None)


def _plain(value: Any) -> Any:
    if isinstance(value, taeda.Tensor):
        return repr(value.dtype), tuple(value.shape), repr(value.detach().tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return repr(value) if isinstance(value, (int, float, complex, str, type(None))) else type(value)


def _differ(a: Any, b: Any) -> bool:
    return type(a) is not type(b) or (not isinstance(a, Exception) and a != b)


def _allocated() -> int:
    gc.collect()
    return int(core.memory_stats()["allocated"])


# ---- what is called ----


def row_calls(name: str) -> list[tuple[str, Callable[[], Any]]]:
    """The calls of a row, fresh tensors included, and their derivatives."""
    from samples import ROWS, default_dtype, fits, samples

    made = []
    usual = [d for d in ("float32", "int64", "complex64") if fits(ROWS[name], d)]
    own = [] if "float32" in usual else [default_dtype(ROWS[name])]
    for dtype in dict.fromkeys(usual + own):
        for sample in samples(name, dtype):

            def call(number: int = sample.number, dtype: str = dtype) -> Any:
                taeda.manual_seed(0)
                [fresh] = [s for s in samples(name, dtype) if s.number == number]
                return fresh.call()

            def derived(number: int = sample.number, dtype: str = dtype) -> Any:
                taeda.manual_seed(0)
                [fresh] = [s for s in samples(name, dtype) if s.number == number]
                tensors = [t.requires_grad_() for t in fresh.tensors() if t.is_floating_point()]
                given = fresh.call()
                outputs = [t for t in _tensors(given) if t.requires_grad]
                return taeda.autograd.grad(
                    outputs, tensors, [taeda.ones_like(t) for t in outputs], allow_unused=True
                )

            made.append((str(sample), call))
            if dtype == "float32" and sample.tensors():
                made.append((f"derivative of {sample}", derived))
    return made


def _tensors(value: Any) -> list[taeda.Tensor]:
    if isinstance(value, taeda.Tensor):
        return [value]
    return [t for part in value for t in _tensors(part)] if isinstance(value, (list, tuple)) else []


def program_calls() -> list[tuple[str, Callable[[], Any]]]:
    """Whole steps of training and of saving."""
    optimizers = {
        "SGD": lambda p: taeda.optim.SGD(p, lr=0.1, momentum=0.9),
        "AdamW": lambda p: taeda.optim.AdamW(p, lr=0.01),
        "RMSprop": lambda p: taeda.optim.RMSprop(p, lr=0.01),
    }
    models = {"convolutions": _convolutions, "attention": _attention, "recurrent": _recurrent}
    made: list[tuple[str, Callable[[], Any]]] = [
        (f"training of {m} with {o}", lambda m=m, o=o: _step(models[m], optimizers[o]))
        for m in models
        for o in optimizers
    ]
    made.append(("a checkpoint", _checkpoint))
    made.append(("a checkpoint for torch", lambda: _checkpoint(format="pt")))
    return made


def _convolutions() -> tuple[nn.Module, taeda.Tensor]:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(36, 10),
    )
    return model, taeda.randn(5, 1, 8, 8)


def _attention() -> tuple[nn.Module, taeda.Tensor]:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(96, 10)), taeda.randn(5, 6, 16)


class _Last(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells, self.head = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 10)

    def forward(self, x: taeda.Tensor) -> Any:
        return self.head(self.cells(x)[0][:, -1])


def _recurrent() -> tuple[nn.Module, taeda.Tensor]:
    return _Last(), taeda.randn(5, 7, 4)


def _step(model_of: Any, optimizer_of: Any) -> Any:
    taeda.manual_seed(0)
    model, x = model_of()
    optimizer = optimizer_of(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), taeda.tensor([0, 3, 1, 9, 4]))
        loss.backward()
        optimizer.step()
    return [loss, *model.state_dict().values()]


def _checkpoint(**options: Any) -> Any:
    file = io.BytesIO()
    x = taeda.arange(1000.0)
    taeda.save({"a": x, "b": x[10:20].t(), "c": [1, "two"]}, file, **options)
    file.seek(0)
    loaded = taeda.load(file)
    return [loaded["a"], loaded["b"], *loaded["c"]]


# ---- running ----


Calls = Callable[[], Iterable[tuple[str, Callable[[], Any]]]]


def in_child(
    title: str,
    calls: Calls,
    check: Callable[[Callable[[], Any]], list[str]] = faults_of,
    coverage: Coverage | None = None,
) -> list[str]:
    """The faults that `check` finds in some calls, each with the call's name; a death of the process is one.

    `coverage` counts the calls under the title.
    """
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        code = 1
        noted()  # of the parent
        try:
            for name, call in calls():
                os.write(write, f"?{name}\n".encode())
                for fault in check(call):
                    os.write(write, f"!{name}: {fault}\n".encode())
                for refusal in noted():
                    os.write(write, f"+{refusal}\n".encode())
            code = 0
        except BaseException:  # noqa: BLE001 - told, and the child ends
            os.write(write, f"!{title}: {traceback.format_exc()[-300:]!r}\n".encode())
        finally:
            os._exit(code)
    os.close(write)
    killer = time.monotonic() + SECONDS
    said = _read_until(read, killer)
    if time.monotonic() >= killer:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    lines = said.decode(errors="replace").splitlines()
    found = [line[1:] for line in lines if line.startswith("!")]
    if coverage is not None:
        coverage.ran[title] += 0
        for line in lines:
            if line.startswith("+"):
                coverage.add(title, line[1:])
    if status < 0:
        last = [line[1:] for line in lines if line.startswith("?")][-1:] or [title]
        found.append(f"{last[0]}: ended by {signal.Signals(-status).name}")
    return found


def _read_until(descriptor: int, end: float) -> bytes:
    import select

    said = b""
    while (left := end - time.monotonic()) > 0:
        if select.select([descriptor], [], [], left)[0]:
            part = os.read(descriptor, 1 << 16)
            if not part:
                break
            said += part
    os.close(descriptor)
    return said


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", default="", help="beginnings of names, with commas; all if empty")
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts of the rows")
    parser.add_argument("--reasons", action="store_true", help="why calls did not run")
    parser.add_argument("--no-programs", action="store_true", help="rows only")
    options = parser.parse_args()
    from samples import ROWS

    core.set_fill_fresh(True)  # unset elements are the same each time
    taeda.set_num_threads(1)  # the n-th allocation is then the same one each time
    part, parts = map(int, options.part.split("/"))
    wanted = tuple(options.rows.split(","))
    rows = [name for name in sorted(ROWS) if name.startswith(wanted)][part::parts]
    faults, coverage = [], Coverage()
    for name in rows:
        faults += in_child(name, lambda name=name: row_calls(name), coverage=coverage)
    faults += coverage.faults()
    if not options.no_programs and not options.rows:
        for title, call in program_calls():
            faults += in_child(title, lambda title=title, call=call: [(title, call)])
    for line in faults + (coverage.reasons() if options.reasons else []):
        print(line)
    print(f"{coverage}; {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
