"""The first use of everything from eight threads of a fresh process:
`python tools/hunt/first_use.py --processes 25`.

Each line of a snippet is a thread's program; eight threads share the lines in turn and begin at one
moment, in a process that has imported `taeda` and nothing else of it, or not even that (COLD). A
wrong result, an exception in any thread, or a process that is not done within a minute is a
failure. Every snippet runs with the interpreter's own switch interval and with one of a
microsecond.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import textwrap

THREADS = 8

SNIPPETS = {
    "backward": "import taeda; x = taeda.ones(3, requires_grad=True); x.sum().backward(); assert "
    "x.grad.tolist() == [1, 1, 1]",
    "rules": """
        import taeda; x = taeda.ones(3, requires_grad=True); (x * 2).sum().backward(); assert x.grad.tolist() == [2, 2, 2]
        import taeda; x = taeda.ones(3, requires_grad=True); x.prod().backward(); assert x.grad.tolist() == [1, 1, 1]
        import taeda; x = taeda.ones(3, requires_grad=True); x.max().backward(); assert x.grad.sum().item() == 1
        import taeda; x = taeda.ones(3, requires_grad=True); taeda.linalg.vector_norm(x).backward(); assert x.grad.numel() == 3
    """,
    "modules": "import taeda; assert taeda.nn.Linear(2, 3)(taeda.ones(1, 2)).shape == (1, 3)",
    "a module of nn beside a function": """
        import taeda.nn.modules.linear as m; assert m.Linear(2, 1).weight.shape == (1, 2)
        import taeda; assert taeda.nn.functional.relu(taeda.tensor([-1.0])).tolist() == [0]
    """,
    "modules of nn, each its own": """
        import taeda.nn.modules.conv as m; assert m.Conv2d
        import taeda.nn.modules.linear as m; assert m.Linear
        import taeda.nn.functional as F; assert F.relu
        import taeda.nn.utils.parametrizations as p; assert p.weight_norm
        import taeda.nn.attention as a; assert a.SDPBackend
        import taeda.nn.utils.rnn as r; assert r.pad_sequence
        import taeda.nn; assert taeda.nn.LSTM
        from taeda.nn.parameter import Parameter; assert Parameter
    """,
    "names that are functions and modules": """
        import taeda.nn.utils.weight_norm
        from taeda.nn.utils import weight_norm; assert callable(weight_norm)
        import taeda; assert callable(taeda.nn.utils.weight_norm) and callable(taeda.nn.utils.spectral_norm)
        import taeda; assert callable(taeda.autograd.gradcheck)
    """,
    "star": """
        exec("from taeda.nn import *"); assert "Linear" in dir()
        import taeda.nn.modules.rnn as m; assert m.LSTM
        from taeda.nn import functional as F; assert F.linear
        import taeda; assert "Linear" in dir(taeda.nn) and "Linear" in vars(taeda.nn)
    """,
    "optimizers": """
        import taeda; p = taeda.ones(1, requires_grad=True); p.sum().backward(); taeda.optim.SGD([p], lr=1.0).step(); assert p.item() == 0
        import taeda.optim.adam as a; assert a.Adam
        from taeda.optim.lr_scheduler import StepLR; assert StepLR
        import taeda.optim.swa_utils as s; assert s.AveragedModel
    """,
    "training": """
        import taeda; m = taeda.nn.Linear(1, 1); o = taeda.optim.Adam(m.parameters()); m(taeda.ones(1, 1)).sum().backward(); o.step()
    """,
    "distributions": """
        import taeda.distributions.kl as k; assert k.kl_divergence
        import taeda; assert taeda.distributions.Normal(0.0, 1.0).mean.item() == 0
        from taeda.distributions.transforms import ExpTransform; assert ExpTransform
    """,
    "divergences": """
        import taeda; N = taeda.distributions.Normal; assert taeda.distributions.kl_divergence(N(0.0, 1.0), N(1.0, 1.0)).item() == 0.5
        from taeda.distributions.kl import kl_divergence as d; from taeda.distributions.normal import Normal as N; assert d(N(0.0, 1.0), N(1.0, 1.0)).item() == 0.5
    """,
    "numpy, half imported": """
        import numpy; assert numpy.ones(3).sum() == 3
        import taeda; assert taeda.ones(3)[taeda.tensor([0, 1])].tolist() == [1, 1]
        import taeda; assert taeda.tensor([1.5, 2]).tolist() == [1.5, 2]
        import taeda; assert (taeda.ones(2) * 2 + 1.5).tolist() == [3.5, 3.5]
        import taeda; taeda.distributions.Normal(0.0, 1.0).sample()
        import taeda; assert taeda.arange(3).numpy().tolist() == [0, 1, 2]
    """,
    "arrays both ways": """
        import numpy, taeda; assert taeda.from_numpy(numpy.arange(3)).tolist() == [0, 1, 2]
        import numpy, taeda; assert (taeda.ones(2) == numpy.ones(2)).tolist() == [True, True]
        import numpy, taeda; assert taeda.tensor([numpy.float64(0.1)]).dtype is taeda.float64
    """,
    "loaders": """
        import taeda; from taeda.utils.data import DataLoader, TensorDataset; d = TensorDataset(taeda.arange(4)); assert len(list(DataLoader(d, 2))) == 2
        import taeda.utils.data.sampler as s; assert list(s.SequentialSampler([1, 2])) == [0, 1]
        from taeda.utils.data import SharedList; assert SharedList
    """,
    "autocast": """
        import taeda
        with taeda.autocast("cpu", dtype=taeda.bfloat16): assert (taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype is taeda.bfloat16
        import taeda.amp.grad_scaler as g; assert g.GradScaler
    """.replace("import taeda\n        with", "import taeda\\nwith"),
    "forward mode": """
        import taeda; assert taeda.func.jacrev(lambda x: x * x)(taeda.ones(2)).tolist() == [[2, 0], [0, 2]]
        import taeda, taeda.autograd.functional as f; assert f.jacobian(lambda x: x * x, taeda.ones(1)).tolist() == [[2]]
        from taeda.autograd import Function; assert Function
    """,
    "own functions": """
        import taeda\\nclass F(taeda.autograd.Function):\\n    forward = staticmethod(lambda c, x: x * 2)\\n    backward = staticmethod(lambda c, g: g * 2)\\nx = taeda.ones(2, requires_grad=True)\\nF.apply(x).sum().backward()\\nassert x.grad.tolist() == [2, 2]
        import taeda.autograd.function as f; assert f.once_differentiable
        import taeda.autograd.graph as g; assert g.save_on_cpu
    """,
    "transforms and algebra": """
        import taeda; assert taeda.fft.fft(taeda.ones(2)).tolist() == [2, 0]
        import taeda; assert taeda.linalg.inv(taeda.eye(2)).tolist() == [[1, 0], [0, 1]]
        import taeda; assert taeda.special.erf(taeda.zeros(1)).item() == 0
        import taeda; assert taeda.signal.windows.hann(4).shape == (4,)
        import taeda; assert taeda.einsum("ij,jk->ik", taeda.ones(2, 2), taeda.ones(2, 2)).tolist() == [[2, 2], [2, 2]]
    """,
    "files": """
        import io, taeda; f = io.BytesIO(); taeda.save({"x": taeda.ones(2)}, f); f.seek(0); assert taeda.load(f)["x"].tolist() == [1, 1]
        import taeda.serialization as s; assert s.load
        import pickle, taeda; assert pickle.loads(pickle.dumps(taeda.ones(2))).tolist() == [1, 1]
        import copy, taeda; assert copy.deepcopy(taeda.nn.Linear(1, 1)).weight.shape == (1, 1)
    """,
    "texts": """
        import taeda; assert repr(taeda.ones(2)) == "tensor([1., 1.])"
        import taeda; assert repr(taeda.nn.Linear(1, 1)).startswith("Linear(")
        import taeda; assert taeda.finfo(taeda.float32).bits == 32
    """,
    "random numbers": """
        import taeda; taeda.manual_seed(0); assert taeda.randn(3).shape == (3,)
        import taeda.random; assert taeda.random.get_rng_state().dtype is taeda.uint8
        import taeda; assert taeda.bernoulli(taeda.ones(2)).tolist() == [1, 1]
    """,
    "overrides": """
        import taeda.overrides as o; assert o.has_torch_function(()) is False
        import taeda\\nclass Own(taeda.Tensor): pass\\nassert type(taeda.ones(1).as_subclass(Own) + 1) is Own
        import taeda; assert type(taeda.nn.Parameter(taeda.ones(1)) + 1) is taeda.Tensor
    """,
    "operators of one's own": """
        import taeda.library as l; assert l.Library
        import taeda; assert taeda.ops.taeda.add
        import taeda; assert taeda.testing.assert_close(taeda.ones(1), taeda.ones(1)) is None
    """.replace("assert taeda.ops.taeda.add", "assert taeda.ops is taeda.ops"),
    "helpers": """
        import taeda.utils.checkpoint as c; assert c.checkpoint
        import taeda; assert taeda.utils.checkpoint.checkpoint(lambda x: x * 2, taeda.ones(1), use_reentrant=False).item() == 2
        import taeda.utils.benchmark.timer as t; assert t
        import taeda; assert taeda.utils.benchmark.Timer
        import taeda.multiprocessing as m; assert m.get_all_sharing_strategies()
        import taeda.backends.mkl as m; assert m.is_available() in (True, False)
    """,
}

#: snippets that begin before anybody has imported `taeda`: one thread runs its code while others
#: ask for parts of it
COLD = {
    "the package, first of all": """
        import taeda; assert taeda.ones(2).sum().item() == 2
        import taeda; assert taeda.nn.Linear(2, 1)(taeda.ones(1, 2)).shape == (1, 1)
        import taeda, taeda.nn.functional as F; assert F.relu(taeda.tensor([-1.0])).tolist() == [0]
        import taeda; from taeda.utils.data import DataLoader; assert len(list(DataLoader([1, 2]))) == 2
        import taeda; x = taeda.ones(3, requires_grad=True); x.sum().backward(); assert x.grad.tolist() == [1, 1, 1]
        from taeda import ones; assert ones(1).item() == 1
        from taeda import nn, optim; assert nn.Linear and optim.SGD
        import numpy, taeda; assert taeda.from_numpy(numpy.arange(3)).tolist() == [0, 1, 2]
    """,
    "eight different first imports": """
        import taeda.nn; assert taeda.nn.Linear(2, 1)(taeda.ones(1, 2)).shape == (1, 1)
        import taeda.optim; assert taeda.optim.SGD
        import taeda.autograd.functional as f; assert f.jacobian
        import taeda.utils.data; assert len(list(taeda.utils.data.DataLoader([1, 2]))) == 2
        import taeda.distributions; assert taeda.distributions.Normal(0.0, 1.0).mean.item() == 0
        import taeda.amp; assert taeda.amp.GradScaler
        import taeda.fx; assert taeda.fx.symbolic_trace
        import taeda.nn.functional as F; import taeda; assert F.relu(taeda.tensor([-1.0])).tolist() == [0]
    """,
    "a module of nn beside functions, first of all": """
        import taeda.nn.modules.linear as m; assert m.Linear(2, 1).weight.shape == (1, 2)
        from taeda.nn.functional import relu; import taeda; assert relu(taeda.tensor([-1.0])).tolist() == [0]
        import taeda.random; assert taeda.random.get_rng_state().dtype is taeda.uint8
        from taeda.distributed import is_available; assert is_available() in (True, False)
    """,
}

PROGRAM = """
import faulthandler, sys, threading, traceback
{first}
faulthandler.dump_traceback_later(50, exit=True)
if {interval}: sys.setswitchinterval({interval})
failed, gate = [], threading.Barrier({threads})
def thread(text):
    gate.wait()
    try:
        exec(compile(text, "snippet", "exec"), {{"__name__": "snippet"}})
    except BaseException as error:
        failed.append(f"{{text!r}}:\\n{{traceback.format_exc()}}")
threads = [threading.Thread(target=thread, args=(text,)) for text in {texts!r}]
for t in threads: t.start()
for t in threads: t.join()
print(*failed, sep="\\n")
sys.exit(bool(failed))
"""


def programs(snippet: str) -> list[str]:
    """What each thread runs: the lines in turn."""
    lines = [line.replace("\\n", "\n") for line in textwrap.dedent(snippet).strip().splitlines()]
    return list(itertools.islice(itertools.cycle(lines), THREADS))


def failure(snippet: str, interval: float) -> str:
    """What went wrong in one fresh process; empty if nothing did."""
    first = "" if snippet in COLD.values() else "import taeda"
    text = PROGRAM.format(first=first, interval=interval, threads=THREADS, texts=programs(snippet))
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "no end after 120 seconds"
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or str(done)


def main() -> int:
    """Run every snippet (or those named) that often; the exit status says whether all was right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--processes", type=int, default=25, help="of each snippet and interval")
    parser.add_argument("--only", nargs="*", default=[*SNIPPETS, *COLD], choices=SNIPPETS | COLD)
    options = parser.parse_args()
    bad = 0
    for name in options.only:
        for interval in (0, 1e-6):
            found = [failure((SNIPPETS | COLD)[name], interval) for _ in range(options.processes)]
            wrong = list(filter(None, found))
            bad += len(wrong)
            if wrong:
                print(
                    f"{name} (interval {interval or 'default'}): {len(wrong)} of {len(found)} "
                    f"processes failed:\n{wrong[0]}"
                )
    count = len(options.only) * 2 * options.processes
    print(f"{count} processes, {len(options.only)} snippets: {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
