"""The 38 models of tools/testing/exported_models.py as programs: capture, files, ONNX, and calls.

    python benchmarks/exported.py                  a row for each model, then medians (about 3 minutes)
    python benchmarks/exported.py --only "gpt|lstm" --seconds 0.3

Each is captured with two free sizes and run at four sets of them: `bits` says at how many the program
gives the module's bits, `close` at how many it gives its numbers to 1e-5. `pt2` is what a file gives
that was written and read here; `theirs` whether PyTorch runs our file, `ours` whether we run PyTorch's
of the same model with the same weights. `onnx` is whether onnxruntime gives our numbers at all four
sets, to 1e-4. Without PyTorch or onnxruntime in the environment their columns are empty. The times of
a call are medians of rounds in which all take turns, of one thread each, at the largest set of sizes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools" / "testing"))
from exported_models import SETS, Model, models

import taeda
from taeda.export import Dim, export, load, save
from taeda.utils._pytree import tree_leaves

COLUMNS = ("capture s", "bits", "close", "pt2", "theirs", "ours", "onnx ms", "onnx", "eager us",
    "program us", "compiled us", "onnxruntime us")  # fmt: skip


def sizes_of(lib_dim: Any, model: Model) -> tuple[dict[int, Any], ...]:
    """The demands of a model, with Dims of a library."""
    b, t = lib_dim("b", max=64), lib_dim("t", max=64)
    known = {"b": b, "t": t, "2*b": 2 * b, "2*t": 2 * t}
    return tuple({dim: known[text] for dim, text in shape.items()} for shape in model.shapes)


def arrays(value: Any) -> list[Any]:
    return [v.detach().numpy() for v in tree_leaves(value) if hasattr(v, "detach")]


def close(got: list[Any], wanted: list[Any], tolerance: float) -> bool:
    import numpy as np

    same = len(got) == len(wanted)
    return same and all(
        np.allclose(a, b, tolerance, tolerance) for a, b in zip(got, wanted, strict=True)
    )


def other(name: str) -> Any:
    with contextlib.suppress(ImportError):
        return __import__(name)
    return None


def works(run: Callable[[], bool]) -> str:
    """ "yes", "no", or the error by its class."""
    try:
        return "yes" if run() else "no"
    except Exception as error:  # noqa: BLE001 - whatever is raised there is the finding
        print(f"    {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return type(error).__name__


class Row:
    """One model."""

    def __init__(self, name: str, model: Model, seconds: float) -> None:
        self.name, self.model, self.seconds = name, model, seconds
        self.cells: dict[str, Any] = {}
        self.module = model.make().eval()
        self.wanted = [arrays(self.module(*model.given(*one))) for one in SETS]

    def measure(self) -> dict[str, Any]:
        begin = time.process_time()
        program = export(
            self.module, self.model.given(*SETS[0]), dynamic_shapes=sizes_of(Dim, self.model)
        )
        self.cells["capture s"] = time.process_time() - begin
        self._right(program)
        self._files(program)
        calls = {
            "eager us": self.module,
            "program us": program.module(),
            "compiled us": taeda.compile(self.module),
        }
        session = self._onnx(program)
        if session is not None:
            calls["onnxruntime us"] = session
        self._times(calls)
        return self.cells

    def _right(self, program: Any) -> None:
        run = program.module()
        made = [arrays(run(*self.model.given(*one))) for one in SETS]
        pairs = list(zip(made, self.wanted, strict=True))
        self.cells["bits"] = sum(
            all((a == b).all() for a, b in zip(*p, strict=True)) for p in pairs
        )
        self.cells["close"] = sum(close(*p, 1e-5) for p in pairs)

    def _at_all(
        self, run: Callable[..., Any], given: Callable[[Any], Any], tolerance: float = 1e-4
    ) -> bool:
        return all(
            close(arrays(run(*map(given, self.model.given(*one)))), wanted, tolerance)
            for one, wanted in zip(SETS, self.wanted, strict=True)
        )

    def _files(self, program: Any) -> None:
        file = io.BytesIO()
        save(program, file)
        content = file.getvalue()
        back = load(io.BytesIO(content)).module()
        self.cells["pt2"] = works(lambda: self._at_all(back, lambda v: v, 1e-6))
        torch = other("torch")
        if torch is None:
            return
        theirs = lambda v: torch.from_numpy(v.numpy())  # noqa: E731
        self.cells["theirs"] = works(
            lambda: self._at_all(torch.export.load(io.BytesIO(content)).module(), theirs)
        )
        self.cells["ours"] = works(lambda: self._of_torch(torch))

    def _of_torch(self, torch: Any) -> bool:
        """Whether PyTorch's file of the model runs here; its sizes are those that it keeps free."""
        model = models(torch)[self.name]
        module = model.make().eval()
        state = {
            k: torch.from_numpy(v.detach().numpy().copy())
            for k, v in self.module.state_dict().items()
        }
        module.load_state_dict(state)
        free = tuple(dict.fromkeys(shape, torch.export.Dim.AUTO) for shape in model.shapes)
        file = io.BytesIO()
        torch.export.save(
            torch.export.export(module, model.given(*SETS[0]), dynamic_shapes=free), file
        )
        run = load(io.BytesIO(file.getvalue())).module()
        return close(arrays(run(*self.model.given(*SETS[0]))), self.wanted[0], 1e-4)

    def _onnx(self, program: Any) -> Callable[..., Any] | None:
        begin = time.process_time()
        made = taeda.onnx.export(program, verify=False)
        self.cells["onnx ms"] = (time.process_time() - begin) * 1000
        runtime = other("onnxruntime")
        if runtime is None:
            return None
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        with tempfile.TemporaryDirectory() as folder:
            made.save(f"{folder}/model.onnx")
            session = runtime.InferenceSession(f"{folder}/model.onnx", options)
        names = [entry.name for entry in session.get_inputs()]
        run = lambda *v: session.run(None, {n: x.numpy() for n, x in zip(names, v, strict=True)})  # noqa: E731
        good = [
            close(run(*self.model.given(*one)), wanted, 1e-4)
            for one, wanted in zip(SETS, self.wanted, strict=True)
        ]
        self.cells["onnx"] = f"{sum(good)}/4"
        return run

    def _times(self, calls: dict[str, Callable[..., Any]]) -> None:
        given = self.model.given(*SETS[-1])
        rounds: dict[str, list[float]] = {name: [] for name in calls}
        with taeda.no_grad():
            for run in calls.values():
                for _ in range(3):
                    run(*given)
            end = time.perf_counter() + self.seconds
            while time.perf_counter() < end or len(rounds["eager us"]) < 3:
                for name, run in calls.items():
                    begin = time.perf_counter()
                    run(*given)
                    rounds[name].append(time.perf_counter() - begin)
        self.cells.update((name, statistics.median(found) * 1e6) for name, found in rounds.items())


def shown(value: Any) -> str:
    return (
        f"{value:.2f}"
        if isinstance(value, float) and value < 10
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="models whose name matches this expression")
    parser.add_argument("--seconds", type=float, default=0.5, help="of calls for each model")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    taeda.set_num_threads(1)
    taeda.manual_seed(0)
    print("| model |", " | ".join(COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 1) + "|")
    rows = []
    for name, model in models(taeda).items():
        if not re.search(options.only, name):
            continue
        cells = Row(name, model, options.seconds).measure()
        rows.append(cells)
        print(f"| {name} |", " | ".join(shown(cells.get(c, "")) for c in COLUMNS), "|", flush=True)
    print(summary(rows))
    return 0 if all(r["close"] == len(SETS) and r["pt2"] == "yes" for r in rows) else 1


def summary(rows: list[dict[str, Any]]) -> str:
    """Medians, and how often each is the fastest."""
    said = [f"{len(rows)} models"]
    for name in ("capture s", "onnx ms"):
        found = [r[name] for r in rows]
        said.append(f"{name}: median {shown(statistics.median(found))}, most {shown(max(found))}")
    faster = [r for r in rows if "onnxruntime us" in r]
    if faster:
        won = sum(
            min(r["program us"], r["compiled us"], r["eager us"]) < r["onnxruntime us"]
            for r in faster
        )
        said.append(f"ours below onnxruntime's on {won} of {len(faster)}")
    over = [r["program us"] - r["eager us"] for r in rows]
    said.append(f"a program's call above its module's: median {shown(statistics.median(over))} us")
    return "; ".join(said)


if __name__ == "__main__":
    sys.exit(main())
