"""CUDA graphs on the stand-in driver: replays have the eager bits and one launch; what cannot be captured is
named; memory and random numbers are the graph's.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

START = (
    standin.COUNTS
    + standin.REFUSES
    + """
import taeda
from taeda import nn
from taeda.nn import functional as F
cuda = taeda.cuda
_driver.td_null_graph_launches.restype = ctypes.c_long
def replayed(g):
    before = _driver.td_null_graph_launches()
    counts, _ = counted(g.replay)
    assert _driver.td_null_graph_launches() == before + 1
    return counts
"""
)

CASES = {
    "a step of training": """
def build():
    taeda.manual_seed(0)
    layers = nn.Embedding(9, 8), nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 9)
    model = nn.Sequential(*layers).cuda()
    return model, taeda.optim.AdamW(model.parameters(), lr=1e-2, capturable=True)
words = [taeda.randint(0, 9, (12,)).cuda() for _ in range(5)]
x = words[0].clone()
def step(model, optimizer):
    optimizer.zero_grad(set_to_none=False)
    loss = F.cross_entropy(model(x), x)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss
def run(graphed):
    model, optimizer = build()
    losses = []
    side = cuda.Stream()
    with cuda.stream(side):
        for _ in range(2):
            x.copy_(words[0])
            losses.append(step(model, optimizer).item())
    cuda.current_stream().wait_stream(side)
    if graphed:
        g = cuda.CUDAGraph()
        with cuda.graph(g):
            loss = step(model, optimizer)
    for batch in words[1:]:
        x.copy_(batch)
        if graphed:
            counts = replayed(g)
            assert not counts["launches"] and not counts["waits"] and counts["to_device"] == 16, counts
        else:
            loss = step(model, optimizer)
        losses.append(loss.item())
    return losses, [p.detach().cpu() for p in model.parameters()], taeda.rand(3)
eager, graphed = run(False), run(True)
assert eager[0] == graphed[0], (eager[0], graphed[0])
assert all(taeda.equal(a, b) for a, b in zip(eager[1], graphed[1], strict=True))
assert taeda.equal(eager[2], graphed[2])  # the generator is as far
""",
    "memory of its own": """
x = taeda.ones(1000, device="cuda")
(x * 2 + 1).sum()
g = cuda.CUDAGraph()
with cuda.graph(g):
    assert cuda.is_current_stream_capturing()
    y = (x * 2 + 1).sum()
assert not cuda.is_current_stream_capturing()
others = [taeda.full((1000,), 7.0, device="cuda") for _ in range(20)]  # not where the graph writes
x.fill_(3)
g.replay()
assert y.item() == 7000 and all(bool((t == 7).all()) for t in others)
y * 2
second = cuda.CUDAGraph()
with cuda.graph(second, pool=g.pool()):
    z = y * 2
x.fill_(1); g.replay(); second.replay()
assert z.item() == 6000 and second.pool() == g.pool() != cuda.graph_pool_handle()
g.reset()
refuses(RuntimeError, "reset() gave its work and memory back", g.replay)
refuses(RuntimeError, "without a preceding successful capture", cuda.CUDAGraph().replay)
""",
    "what cannot be captured is named": """
x, pinned = taeda.ones(6, device="cuda"), taeda.ones(6).pin_memory()
model = nn.Linear(6, 2).cuda()
adam = taeda.optim.AdamW(model.parameters())
model(x).sum().backward(); adam.step(); x.sum()
bad = {
    "reading the device": [lambda: x.sum().item(), lambda: x.cpu(), lambda: x.tolist()],
    "not pinned": [lambda: taeda.ones(6).cuda(), lambda: taeda.rand(4, device="cuda")],
    "waiting for the device": [cuda.synchronize],
    "waiting for a stream": [lambda: cuda.current_stream().synchronize()],
    "compiling a kernel": [lambda: x.erfinv()],
    "capturable=True": [adam.step],
}
for words, calls in bad.items():
    for call in calls:
        def capture():
            with cuda.graph(cuda.CUDAGraph()):
                call()
        refuses(RuntimeError, words, capture)
        try:
            capture()
        except RuntimeError as error:
            assert "<string>:" in str(error), error
        assert not cuda.is_current_stream_capturing() and x.sum().item() == 6
g = cuda.CUDAGraph()
refuses(RuntimeError, "non-default stream", g.capture_begin)
refuses(RuntimeError, "Unknown capture error mode", lambda: g.capture_begin(capture_error_mode="loose"))
refuses(RuntimeError, "without capture_begin", g.capture_end)
refuses(TypeError, "wanted a CUDAGraph", lambda: cuda.graph(3))
""",
    "streams that join": """
x = taeda.ones(8, device="cuda")
x + 1; x * 2
side, g = cuda.Stream(), cuda.CUDAGraph()
with cuda.graph(g):
    a = x + 1
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        b = a * 2
    cuda.current_stream().wait_stream(side)
    c = b + 1
x.fill_(2)
g.replay()
assert c.tolist() == [7.0] * 8
""",
    "graphed callables": """
taeda.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).cuda()
plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).cuda()
plain.load_state_dict(model.state_dict())
model = cuda.make_graphed_callables(model, (taeda.randn(3, 4, device="cuda", requires_grad=True),))
for _ in range(3):
    x = taeda.randn(3, 4, device="cuda")
    grads = []
    for net in (plain, model):
        leaf = x.clone().requires_grad_()
        net.zero_grad()
        y = net(leaf)
        y.square().sum().backward()
        grads.append([t.cpu() for t in (y.detach(), leaf.grad, *[p.grad for p in net.parameters()])])
    assert all(taeda.equal(a, b) for a, b in zip(*grads, strict=True))
refuses(RuntimeError, "takes a tensor of shape [3, 4]", lambda: model(taeda.ones(2, 4, device="cuda")))
model.eval()
assert model(taeda.ones(2, 4, device="cuda")).shape == (2, 2)  # of the other mode: eager
one, two = taeda.ones(3, device="cuda"), taeda.full((3,), 2.0, device="cuda")
f = cuda.make_graphed_callables(lambda a, b: {"sum": a + b}, (one.clone(), one.clone()))
assert f(two, one)["sum"].tolist() == [3, 3, 3]
""",
    "memory that died is kept": """
import gc
model, x = nn.Linear(4, 4).cuda(), taeda.ones(2, 4, device="cuda")
adam = taeda.optim.AdamW(model.parameters(), capturable=True)
pinned = taeda.full((2, 4), 3.0).pin_memory()
def step():
    x.copy_(pinned, non_blocking=True)
    model(x).sum().backward()
    adam.step()
for _ in range(2):
    step()
before = cuda.memory_allocated()
g = cuda.CUDAGraph()
with cuda.graph(g):
    step()
    y = x + 1
states = [t for s in adam.state.values() for t in s.values()]
there = [x, *model.parameters(), *[p.grad for p in model.parameters()], *states]
addresses = {t.data_ptr() for t in there}
del model, adam, x, there, states, pinned
gc.collect()
cuda.empty_cache()
new = [taeda.zeros(n, device="cuda") for n in (1, 4, 8, 16) for _ in range(40)]
others = [taeda.zeros(2, 4).pin_memory() for _ in range(8)]
assert not addresses & {t.data_ptr() for t in new}, "memory of the graph serves others"
g.replay()
assert y.tolist() == [[4.0] * 4] * 2
assert not any(bool(t.any()) for t in new), "a replay wrote into memory of others"
del new
g.reset()
gc.collect()
assert cuda.memory_allocated() < before
w = taeda.ones(9, device="cuda")
w * 2
with cuda.graph(g):
    w * 2
w.resize_(100000)
refuses(RuntimeError, "a tensor that mul had during the capture was resized", g.replay)
""",
    "other threads, devices and streams": """
import threading
x, y = taeda.ones(4, device="cuda"), taeda.ones(4, device="cuda:1")
x + 1; x * 3; x.sum(); y + 1; y * 2
def beside(call):
    found = []
    def work():
        try:
            call()
        except RuntimeError as error:
            found.append(str(error))
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
    return found
event = cuda.Event()
event.record()
waits = [x.tolist, cuda.synchronize, event.query, event.synchronize, cuda.current_stream().query]
for mode in ("global", "thread_local", "relaxed"):
    g = cuda.CUDAGraph()
    with cuda.graph(g, capture_error_mode=mode):
        for call in waits:
            if call is cuda.synchronize and mode != "global":
                continue  # a device waits for what is captured, too
            found = beside(call)
            assert len(found) == (mode == "global"), (mode, call, found)
            assert not found or "capture_error_mode forbids this beside it" in found[0], found
        assert not beside(lambda: (x * 3, taeda.ones(9).pin_memory(), x.log2()))  # compiled beside it
        z = x + 1
        y * 2  # of another device: done, not captured
        cuda.empty_cache()
    g.replay()
    assert z.tolist() == [2.0] * 4
side = cuda.Stream()
def unjoined():
    with cuda.graph(cuda.CUDAGraph()):
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            x + 1
refuses(RuntimeError, "a stream that joined the capture has not been waited for", unjoined)
g = cuda.CUDAGraph()
with cuda.graph(g):  # memory that another stream of the capture uses does not serve at once
    a = x * 3
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        b = a + 1
    a.record_stream(side)
    del a
    c = [x + 1 for _ in range(4)]
    cuda.current_stream().wait_stream(side)
g.replay()
assert b.tolist() == [4.0] * 4 and all(t.tolist() == [2.0] * 4 for t in c)
def capture(call):
    with cuda.graph(cuda.CUDAGraph()):
        call()
for index, t in enumerate((x, y)):  # each device has a stream of its own for captures
    with cuda.device(index):
        g = cuda.CUDAGraph()
        with cuda.graph(g):
            z = t + 1
    before = t.clone()
    t.fill_(5)
    g.replay()
    assert z.tolist() == [6.0] * 4 and cuda.graph.default_capture_stream.device_index == 0
    t.copy_(before)
outside, marked = cuda.Stream(), cuda.Event()
with cuda.stream(outside):
    x + 1
marked.record(outside)
refuses(RuntimeError, "captured work would wait for work that is not captured", lambda: capture(marked.wait))
refuses(RuntimeError, "waiting for work that is not captured in _to_copy, called at <string>:",
        lambda: capture(lambda: x.to("cuda:1")))
refuses(RuntimeError, "the default stream would wait for captured work",
        lambda: capture(lambda: cuda.default_stream().wait_stream(cuda.current_stream())))
assert (x + y.to("cuda:0")).tolist() == [2.0] * 4
with cuda.stream(side):
    g = cuda.CUDAGraph()
    g.capture_begin()
refuses(RuntimeError, "Capture must end on the same stream", g.capture_end)
""",
    "events of the program": """
import gc
x = taeda.ones(8, device="cuda")
x + 1; x * 2
side, inside = cuda.Stream(), cuda.Event(enable_timing=True)
begin, end = (cuda.Event(enable_timing=True, external=True) for _ in range(2))
ready, g = cuda.Event(external=True), cuda.CUDAGraph()
with cuda.graph(g):
    begin.record()
    inside.record()
    ready.wait()  # it is recorded later, by the program
    b = (x + 1) * 2
    end.record()
    assert begin.external and begin.cuda_event and ready.cuda_event
for late in (3.0, 5.0):
    with cuda.stream(side):
        x.fill_(late)
        ready.record()
    g.replay()  # waits for that, and for nothing else of the side stream
    end.synchronize()
    assert begin.query() and end.query() and begin.elapsed_time(end) >= 0
    assert b.tolist() == [2 * late + 2] * 8
refuses(RuntimeError, "is an order and has no time", lambda: begin.elapsed_time(inside))
refuses(RuntimeError, "is an order and has no time", lambda: inside.elapsed_time(end))
handle = end.cuda_event
del begin, end, ready
gc.collect()
others = [cuda.Event(enable_timing=True) for _ in range(50)]
for event in others:
    event.record()
assert handle not in [e.cuda_event for e in others], "the graph's event serves others"
x.fill_(2)
g.replay()
assert b.tolist() == [6.0] * 8
inside.record()  # outside of a capture it has a time again
cuda.synchronize()
assert inside.elapsed_time(others[0]) <= 0
plain = cuda.Event(external=True)  # outside of captures as any other
plain.record(); plain.wait(); plain.synchronize()
assert plain.query() and not taeda.cuda._streams._captures
def failing():
    with cuda.graph(cuda.CUDAGraph()):
        plain.record()
        x.tolist()
refuses(RuntimeError, "reading the device", failing)
assert not taeda.cuda._streams._captures
""",
    "no copies": """
import copy, pickle
side = cuda.Stream()
for made in (cuda.CUDAGraph(), cuda.Event(), cuda.MemPool()):
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        refuses(TypeError, "cannot be copied or pickled", lambda: call(made))
refuses(TypeError, "cannot be pickled", lambda: pickle.dumps(side))
assert copy.deepcopy(side) == side
""",
    "what it holds": """
import os, tempfile
x = taeda.ones(3, device="cuda"); x * 2
g = cuda.CUDAGraph(keep_graph=True)
g.enable_debug_mode()
with cuda.graph(g):
    x * 2
path = os.path.join(tempfile.mkdtemp(), "graph.dot")
g.debug_dump(path)
assert "mul" in open(path).read() and g.raw_cuda_graph()
g.instantiate(); g.replay()
other = cuda.CUDAGraph()
refuses(RuntimeError, "keep_graph=True", other.raw_cuda_graph)
refuses(RuntimeError, "enable_debug_mode", lambda: other.debug_dump(path))
""",
}


@pytest.mark.parametrize("late", ["0", "1"])
@pytest.mark.parametrize("case", CASES)
def test_graphs(case, late):
    standin.run(START + CASES[case], TAEDA_NULL_LATE=late)
