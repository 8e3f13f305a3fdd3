"""CUDA memory and events that go to other processes, on the stand-in: two processes on one memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

#: `Other` is a process that keeps what it is sent and evaluates what it is told: `x` came last
START = """
import gc, os, pickle, subprocess, sys, taeda
import taeda.multiprocessing as mp
from multiprocessing.reduction import ForkingPickler
cuda = taeda.cuda

def packed(x):
    return bytes(ForkingPickler.dumps(x))

def serve(inbox, outbox):
    kept = {"all": []}
    while (message := inbox.get()) is not None:
        try:
            if isinstance(message, str):
                outbox.put(eval(message, globals(), kept))
            else:
                kept["x"] = message
                kept["all"].append(message)
                outbox.put("got")
        except Exception as error:
            outbox.put(f"{type(error).__name__}: {error}")
        del message

class Other:
    def __init__(self):
        context = mp.get_context("spawn")
        self.inbox, self.outbox = context.Queue(), context.Queue()
        self.process = context.Process(
            target=serve, args=(self.inbox, self.outbox), daemon=True  # ends with a failed test
        )
        self.process.start()

    def __call__(self, message):
        self.inbox.put(message)
        return self.outbox.get(timeout=60)

    def forget(self):
        self("[all.clear(), locals().pop('x'), gc.collect()] and None")

    def stop(self):
        self.forget()
        self.inbox.put(None)
        self.process.join(60)
        assert self.process.exitcode == 0, self.process.exitcode

def main():
    {program}

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def run(tmp_path):
    """Run the body of a `main`; its children import the file it stands in."""

    def go(program, **settings):
        body = "\n    ".join(program.strip().splitlines())
        path = tmp_path / "program.py"
        path.write_text(standin.REFUSES + START.replace("{program}", body))
        standin.run(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')", **settings)

    return go


@pytest.mark.parametrize("late", ["0", "1"], ids=["at once", "late"])
def test_both_see_one_memory(run, late):
    run(
        """
other = Other()
base = taeda.arange(12.0, device="cuda:1")
x = (base * 2)[2:].reshape(2, 5).t()  # its storage does not begin where the allocation does
assert other(x) == "got"
assert other("(str(x.device), x.shape == (5, 2), x.stride(), x.storage_offset(), x.tolist())") == (
    "cuda:1", True, (1, 5), 2, x.tolist())
assert other("[x.add_(1).sum().item(), cuda.synchronize()][0]") == x.sum().item()
assert other(x[0]) == "got" and other("x.tolist()") == x[0].tolist()
assert other("len({t.untyped_storage().data_ptr() for t in all})") == 1
weight = taeda.nn.Parameter(taeda.ones(3, device="cuda"))
assert other(weight) == "got" and other("(type(x).__name__, x.requires_grad)") == ("Parameter", True)
assert other(taeda.ones(0, 3, device="cuda:1")) == "got"
assert other("(str(x.device), tuple(x.shape))") == ("cuda:1", (0, 3))
other.stop()
""",
        TAEDA_NULL_LATE=late,
    )


def test_memory_lives_until_the_receiver_has_released_it(run):
    run("""
other = Other()
x = taeda.full((1000,), 3.0, device="cuda")
place = x.data_ptr()
assert other(x) == "got"
held = cuda.memory_allocated()
del x
cuda.ipc_collect()
assert cuda.memory_allocated() == held
assert place not in {taeda.zeros(1000, device="cuda").data_ptr() for _ in range(4)}
assert other("x.sum().item()") == 3000
other.forget()
assert cuda.memory_allocated() == held
cuda.ipc_collect()
assert cuda.memory_allocated() == held - 4096, (held, cuda.memory_allocated())
for _ in range(3):  # the driver's allocation is opened once, and again when it was closed
    assert other(taeda.ones(10, device="cuda")) == "got"
    assert other(taeda.ones(9, device="cuda")) == "got"
    other.forget()
other.process.is_alive() and other.inbox.put(None)
other.process.join(60)
cuda.ipc_collect()
assert cuda.memory_allocated() == 0
""")


def test_a_receiver_that_dies_gives_back(run):
    run("""
other = Other()
assert other(taeda.ones(1000, device="cuda")) == "got"
cuda.ipc_collect()
assert cuda.memory_allocated() == 4096
other.process.kill()
other.process.join()
cuda.ipc_collect()
assert cuda.memory_allocated() == 0
""")


def test_a_message_to_oneself_is_the_memory_itself(run):
    run("""
x = taeda.ones(4, device="cuda")
message = packed(x)
y = pickle.loads(message)
y.add_(1)
assert x.tolist() == [2, 2, 2, 2] and y.data_ptr() == x.data_ptr()
refuses(RuntimeError, "has arrived before: a message serves once", lambda: pickle.loads(message))
del x, y
cuda.ipc_collect()
assert cuda.memory_allocated() == 0
queue = mp.get_context("spawn").Queue()
queue.put(taeda.ones(2, device="cuda"))
assert queue.get().tolist() == [1, 1]
x = taeda.ones(2, device="cuda")
assert x.is_shared() and x.share_memory_() is x and x.untyped_storage().is_shared()
""")


def test_what_cannot_be_sent_is_told(run):
    run("""
other = Other()
assert other(taeda.ones(4, device="cuda")) == "got"
assert "came from another process cannot be sent on: send a clone()" in other("packed(x)")
w = taeda.ones(2, device="cuda", requires_grad=True)
refuses(RuntimeError, "computed from others and requires grad", lambda: packed(w * 2))
refuses(ValueError, "3 bytes describe it", lambda: mp.reductions.rebuild_cuda_storage(b"abc"))
refuses(TypeError, "bytes", lambda: mp.reductions.rebuild_cuda_storage("abc"))
other.stop()
""")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"TAEDA_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, "use backend:native"),
        ({"TAEDA_NULL_IPC": "0"}, "sharing memory with another process: CUDA_ERROR_NOT_SUPPORTED"),
        ({"TAEDA_NULL_FAIL": "cuMemGetAddressRange_v2:1:1"}, "looking for the memory of a tensor"),
    ],
    ids=["asynchronous", "unsupported", "refused"],
)
def test_memory_that_the_driver_does_not_share(run, settings, words):
    run(
        f"""
x = taeda.ones(4, device="cuda")
refuses(RuntimeError, {words!r}, lambda: packed(x))
assert x.tolist() == [1, 1, 1, 1]
""",
        **settings,
    )


def test_a_device_that_the_receiver_does_not_see(run):
    run("""
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
other = Other()
other("cuda.init()")
del os.environ["CUDA_VISIBLE_DEVICES"]
x = taeda.ones(4, device="cuda:1")
assert other(x) == "got" and other("str(x.device)") == "cuda:0"  # what it calls this device
hidden = packed(taeda.ones(4, device="cuda:0"))
assert "from a device that this process does not see" in other(f"pickle.loads({hidden!r})")
twice = packed(x)
assert "has arrived before" in other(f"[pickle.loads({twice!r}), pickle.loads({twice!r})]")
other.stop()
""")


def test_a_sender_that_has_ended_is_named(run):
    run("""
other = Other()
message = other("packed(taeda.ones(3, device='cuda'))")
other("globals().update(x=0)")
other.inbox.put(None)
other.process.join(60)
words = f"the process that sent a CUDA tensor ({other.process.pid}) has ended"
refuses(RuntimeError, words, lambda: pickle.loads(message))
""")


def test_a_sender_that_ends_too_early_warns():
    program = """
import taeda, taeda.multiprocessing
from multiprocessing.reduction import ForkingPickler
message = ForkingPickler.dumps(taeda.ones(3, device="cuda"))
"""
    import subprocess

    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, env=standin.environment(), check=True
    )
    assert "while 1 of its CUDA tensors are with other processes" in done.stderr


@pytest.mark.parametrize("late", ["0", "1"], ids=["at once", "late"])
def test_events_cross_processes(run, late):
    run(
        """
other = Other()
event = cuda.Event(interprocess=True)
x = taeda.zeros(3, device="cuda")
assert other(x) == "got"
x += 1
event.record()
assert other(event) == "got"
if os.environ["TAEDA_NULL_LATE"] == "1":
    assert other("x.query()") is False
event.synchronize()
assert other("(x.query(), x.wait(), x.synchronize(), all[0].tolist())") == (
    True, None, None, [1, 1, 1])
refuses(RuntimeError, "wanted an Event(interprocess=True)", cuda.Event().ipc_handle)
refuses(ValueError, "exclude each other",
        lambda: cuda.Event(enable_timing=True, interprocess=True))
refuses(ValueError, "has 64 bytes, got 3", lambda: cuda.Event.from_ipc_handle("cuda:0", b"abc"))
refuses(RuntimeError, "opening the event of another process",
        lambda: cuda.Event.from_ipc_handle("cuda:0", event.ipc_handle()))
fresh = cuda.Event(interprocess=True)
assert len(fresh.ipc_handle()) == 64 and fresh.query()
assert isinstance(taeda.Event("cuda", interprocess=True), cuda.Event)
other.stop()
""",
        TAEDA_NULL_LATE=late,
    )
