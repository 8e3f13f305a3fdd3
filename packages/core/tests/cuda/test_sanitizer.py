"""The detector of work that nothing orders, on the stand-in driver: races are found, cured programs pass."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin

BEGIN = """
import taeda
from taeda.cuda._sanitizer import CUDASanitizerErrors, UnsynchronizedAccessError
cuda = taeda.cuda
s, t, main = cuda.Stream(), cuda.Stream(), cuda.current_stream()
x = taeda.ones(8, 8, device="cuda")
def races(call, *words):
    try:
        call()
    except CUDASanitizerErrors as error:
        (one,) = error.errors
        assert isinstance(one, UnsynchronizedAccessError)
        for word in words:
            assert word in str(error), (word, str(error))
        return one
    raise AssertionError("nothing was found")
"""

#: a title, and a program that raises if the detector is wrong
PROGRAMS = {
    "a write after a write names both": """
with cuda.stream(s):
    streams = f"stream {s.cuda_stream:#x}", "the default stream"
    one = races(lambda: x.mul_(2), *streams, "'self'", "mul.Tensor", "ones", "<string>")
assert one.now.op.startswith("mul.Tensor") and one.now.writes and one.now.stream == (0, s.cuda_stream)
assert one.before.op.startswith("ones") and one.before.writes and one.before.stream == (0, 0)
assert one.now.stack and one.before.stack and one.now.stack != one.before.stack
""",
    "a read after a write": """
with cuda.stream(s):
    races(lambda: x + 1, "reads 'self'", "writes the result")
""",
    "a write after a read": """
s.wait_stream(main)
with cuda.stream(s):
    y = x + 1
races(x.zero_, "writes 'self'", "reads 'self'")
""",
    "out= is written": """
s.wait_stream(main)
with cuda.stream(s):
    y = x + 1
    z = x * 3
races(lambda: taeda.add(x, x, out=y), "'out'")
""",
    "lists are read": """
with cuda.stream(s):
    races(lambda: taeda.cat([taeda.ones(8, 8, device="cuda"), x]), "cat", "'tensors'")
""",
    "two reads": """
s.wait_stream(main)
with cuda.stream(s):
    y = x + 1
z = x + 2
""",
    "wait_stream cures": """
s.wait_stream(main)
with cuda.stream(s):
    x.mul_(2)
main.wait_stream(s)
x.add_(1)
""",
    "wait_stream the wrong way does not": """
main.wait_stream(s)
with cuda.stream(s):
    races(lambda: x.mul_(2), "mul")
""",
    "an event cures": """
e = cuda.Event()
e.record()
s.wait_event(e)
with cuda.stream(s):
    x.mul_(2)
    e.record()
e.wait()
x.add_(1)
""",
    "an event that came too early does not": """
e = main.record_event()
x.add_(1)
s.wait_event(e)
with cuda.stream(s):
    races(lambda: x.mul_(2), "add")
""",
    "order goes through a third stream": """
t.wait_stream(main)
s.wait_stream(t)
with cuda.stream(s):
    x.mul_(2)
""",
    "the host waits for an event": """
e = main.record_event()
e.synchronize()
with cuda.stream(s):
    x.mul_(2)
""",
    "the host waits for the stream": """
main.synchronize()
with cuda.stream(s):
    x.mul_(2)
s.synchronize()
x.add_(1)
""",
    "the host waits for another stream": """
t.synchronize()
with cuda.stream(s):
    races(lambda: x.mul_(2), "mul")
""",
    "the host waits for the device": """
cuda.synchronize()
with cuda.stream(s):
    x.mul_(2)
cuda.synchronize()
x.add_(1)
""",
    "the host reads a value": """
x.sum().item()
with cuda.stream(s):
    x.mul_(2)
    x.cpu()
x.add_(1)
""",
    "the host asks until it is done": """
while not main.query():
    pass
with cuda.stream(s):
    x.mul_(2)
    e = s.record_event()
while not e.query():
    pass
x.add_(1)
""",
    "views are no work, and lie in their base": """
with cuda.stream(s):
    y = x.t().reshape(-1)[:4] if x.t().is_contiguous() else x.t()[2:4].unsqueeze(0).detach()
    races(lambda: y.add_(1), "add")
""",
    "parts that do not meet": """
s.wait_stream(main)
with cuda.stream(s):
    x[:4].add_(1)
    x[4:, :3].add_(1)
    x[4:, 6].add_(1)
x[4:, 3:6].add_(1)
x[4:, 7].add_(1)
races(lambda: x[7:, 2:4].add_(1), "add")
""",
    "memory that the stream of the release hands out again": """
y = taeda.ones(1000, device="cuda")
address = y.data_ptr()
s.wait_stream(main)
with cuda.stream(s):
    z = y + 1
del y
y = taeda.empty(1000, device="cuda")
assert y.data_ptr() == address
races(y.zero_, "record_stream", "zero", "add")
""",
    "record_stream cures that": """
y = taeda.ones(1000, device="cuda")
address = y.data_ptr()
s.wait_stream(main)
with cuda.stream(s):
    z = y + 1
y.record_stream(s)
del y
s.synchronize()
y = taeda.ones(1000, device="cuda")
assert y.data_ptr() == address
y.zero_()
""",
    "a part of released memory": """
y = taeda.ones(1000, device="cuda")
s.wait_stream(main)
with cuda.stream(s):
    z = y + 1
address = y.data_ptr()
del y
y = taeda.empty(100, device="cuda")
assert y.data_ptr() == address
races(y.zero_, "add")
""",
    "memory that came back from the driver": """
y = taeda.ones(30 << 18, device="cuda")
s.wait_stream(main)
with cuda.stream(s):
    z = y + 1
del y, z
cuda.empty_cache()
y = taeda.ones(30 << 18, device="cuda")
y.zero_()
""",
    "a loop stays small": """
from taeda.cuda import _sanitizer
for k in range(200):
    with cuda.stream((s, t)[k % 2]):
        (s, t)[k % 2].wait_stream((t, s)[k % 2] if k else main)
        x.add_(1)
kept = _sanitizer._watcher.memory[0].lists(x.data_ptr(), x.data_ptr() + 256)
assert sum(map(len, kept)) <= 2, kept
""",
    "a training step on a stream of its own": """
net = taeda.nn.Sequential(taeda.nn.Linear(8, 8), taeda.nn.ReLU(), taeda.nn.Linear(8, 1)).cuda()
step = taeda.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
s.wait_stream(main)
with cuda.stream(s):
    for _ in range(3):
        net(x).sum().backward()
        step.step()
        step.zero_grad()
races(lambda: net[0].weight.detach().add_(1), "'self'")
""",
    "backward runs on the streams of the forward": """
w, v = (taeda.ones(8, 8, device="cuda", requires_grad=True) for _ in range(2))
seen = []
def note(grad):
    seen.append(cuda.current_stream())
s.wait_stream(main)
t.wait_stream(main)
with cuda.stream(s):
    a = x @ w
    a.register_hook(note)
t.wait_stream(s)
with cuda.stream(t):
    b = (a * v).sum()
    b.register_hook(note)
b.backward()
assert seen == [t, s] and cuda.current_stream() == main, seen
w.grad.add_(v.grad)
a = w * 2
s.wait_stream(main)
with cuda.stream(s):
    (g,) = taeda.autograd.grad(a.sum(), w)
    assert cuda.current_stream() == s
    g.add_(1)
with cuda.stream(t):
    races(lambda: g.add_(1), "add")
""",
    "a walk that fails gives the stream back": """
w = taeda.ones(8, device="cuda", requires_grad=True)
def fail(grad):
    raise KeyError("mine")
s.wait_stream(main)
with cuda.stream(s):
    a = w * 2
    a.register_hook(fail)
    b = a.sum()
try:
    b.backward()
except KeyError:
    pass
else:
    raise AssertionError
assert cuda.current_stream() == main
""",
    "two devices": """
y = x.to("cuda:1")
y.add_(1)
x.copy_(y)
with cuda.device(1):
    r = cuda.Stream()
    with cuda.stream(r):
        races(lambda: y.add_(1), "cuda:1")
""",
    "after an error the program goes on": """
with cuda.stream(s):
    races(lambda: x.mul_(2))
cuda.synchronize()
x.mul_(2)
""",
}


ALL = """
import gc, traceback
import taeda, taeda.nn, taeda.optim
failed = 0
for title, program in PROGRAMS.items():
    try:
        exec(BEGIN + program, {"taeda": taeda})
        gc.collect()
    except BaseException:
        failed += 1
        print(f"---- {title}")
        traceback.print_exc()
    for k in range(2):
        taeda.cuda.synchronize(k)
    taeda.cuda.empty_cache()
raise SystemExit(failed)
"""


def test_order_is_watched():
    settings = {"TAEDA_CUDA_SANITIZER": "1", "TAEDA_NULL_DEVICES": "2"}
    standin.run(f"BEGIN, PROGRAMS = {BEGIN!r}, {PROGRAMS!r}\n{ALL}", **settings)


def test_it_is_enabled_by_a_call():
    standin.run(
        BEGIN.replace("x =", "taeda.cuda._sanitizer.enable_cuda_sanitizer()\nx =")
        + PROGRAMS["a read after a write"]
    )


def test_it_is_not_there_unless_asked_for():
    standin.run("""
import sys, taeda
x = taeda.ones(3, device="cuda")
with taeda.cuda.stream(taeda.cuda.Stream()):
    x.add_(1)
assert "taeda.cuda._sanitizer" not in sys.modules
""")
