"""Tensors through queues and arguments: shared, the same, and refused where a graph would be cut."""

from __future__ import annotations

import multiprocessing
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
from children import Marked, echo, fill

import taeda
import taeda.multiprocessing as mp

METHODS = ["fork", "spawn", "forkserver"]


@pytest.fixture(params=METHODS)
def context(request):
    return mp.get_context(request.param)


def through(value):
    """What a queue within one process gives back."""
    queue = mp.SimpleQueue()
    queue.put(value)
    return queue.get()


@pytest.fixture
def echoed(context):
    """A function that sends a value to another process and returns what comes back."""
    there, back = context.SimpleQueue(), context.SimpleQueue()
    process = context.Process(target=echo, args=(there, back), daemon=True)
    process.start()

    def send(value):
        there.put(value)
        assert back._reader.poll(30), "no answer in 30 seconds"
        return back.get()

    yield send
    there.put(None)
    process.join(10)
    assert process.exitcode == 0


def test_what_comes_back_is_the_same_storage(echoed):
    x = taeda.arange(12.0).reshape(3, 4)
    rows = x[1:]
    first, second = echoed([x, rows.t()])
    assert x.is_shared()
    assert first.is_set_to(x)
    assert second.is_set_to(rows.t())
    assert echoed(x[0]).is_set_to(x[0])  # a message of its own


def test_arguments_of_a_process_are_shared(context):
    x = taeda.zeros(3)
    y = x[1:]
    if context.get_start_method() == "fork":
        x.share_memory_()  # a fork inherits, nothing is pickled
    process = context.Process(target=fill, args=([x, y, taeda.zeros(0)], 4.0))
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert x.tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    "dtype", [taeda.bool, taeda.int16, taeda.bfloat16, taeda.complex64], ids=str
)
def test_dtypes(dtype):
    x = taeda.tensor([[1, 0], [1, 1]]).to(dtype)
    y = through(x)
    assert y.dtype is dtype
    assert y.tolist() == x.tolist()
    assert y.is_set_to(x)


def test_layouts():
    x = taeda.arange(24).reshape(2, 3, 4)
    for view in (x.permute(2, 0, 1), x[:, ::2], x.expand(2, 2, 3, 4), x[1, 1, 1], x[:0]):
        assert through(view).is_set_to(view)
    for empty in (taeda.empty(0), taeda.empty(3, 0, 2)):
        assert through(empty).shape == empty.shape
    meta = through(taeda.empty(3, 2, device="meta").t())
    assert (meta.device.type, meta.shape, meta.stride()) == ("meta", (2, 3), (1, 2))


def test_lazy_bits():
    z = taeda.tensor([1 + 2j, 3 - 4j])
    assert through(z.conj()).is_conj()
    assert through(z.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert through(z.conj().imag).tolist() == [-2, 4]


def test_leaf_keeps_requires_grad_and_leaves_grad_behind():
    x = taeda.ones(2, requires_grad=True)
    x.sum().backward()
    y = through(x)
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad is None
    assert not x.grad.is_shared()


def test_a_computed_tensor_is_refused():
    x = taeda.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"computed from others and requires grad.*detach\(\)"):
        through(x * 2)
    assert through((x * 2).detach()).tolist() == [2, 2]


def test_a_subclass_arrives_as_itself(echoed):
    x = taeda.zeros(3).as_subclass(Marked)
    x.label = "seven"
    y = echoed(x)
    assert type(y) is Marked
    assert y.label == "seven"
    y[0] = 1
    assert x[0] == 1


def test_attributes_travel():
    x = taeda.zeros(3)
    x.note = {"a": 1}
    assert through(x).note == {"a": 1}


def test_storages():
    x = taeda.arange(4)
    assert through(x.untyped_storage()) == x.untyped_storage()
    typed = through(x.storage())
    assert typed.tolist() == [0, 1, 2, 3]
    assert typed.untyped() == x.untyped_storage()


def test_queues_of_the_standard_library_pass_them_too():
    queue = multiprocessing.SimpleQueue()
    x = taeda.ones(3)
    queue.put(x)
    assert queue.get().is_set_to(x)


def test_the_pickle_of_a_large_tensor_is_small():
    assert len(ForkingPickler.dumps(taeda.zeros(1 << 20))) < 2000


def test_a_quantized_tensor_travels_as_its_parts():
    pytest.importorskip("taeda.quantization")  # which core does not need
    x = taeda.quantize_per_tensor(taeda.tensor([0.5, -1.0, 2.0]), 0.25, 3, taeda.quint8)
    made = pickle.loads(ForkingPickler.dumps(x))
    assert made.int_repr().tolist() == x.int_repr().tolist() and made.dtype is taeda.quint8
    assert (made.q_scale(), made.q_zero_point()) == (0.25, 3)


def test_names_of_dimensions_are_refused():
    with pytest.raises(RuntimeError, match="dimensions have names"):
        ForkingPickler.dumps(taeda.ones(2, names=("a",)))
