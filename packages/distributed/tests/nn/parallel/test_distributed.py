"""DistributedDataParallel gives the gradients of one process with the whole batch, and says what is
wrong with a model.
"""

from __future__ import annotations

import pytest
from ranks import all_well, run_ranks

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.nn.parallel import DataParallel, DistributedDataParallel, data_parallel

START = """
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", timeout=seconds(30))
def net(seed=0):
    taeda.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 5), nn.Tanh(), nn.Linear(5, 2))
taeda.manual_seed(1)
X, Y = taeda.randn(8 * size, 6), taeda.randn(8 * size, 2)
mine = slice(8 * rank, 8 * rank + 8)
loss = nn.functional.mse_loss
def close(a, b, tol=1e-5):
    assert (a - b).abs().max() < tol, (a, b)
def same_everywhere(t):
    out = [taeda.empty_like(t) for _ in range(size)]
    dist.all_gather(out, t)
    assert all(taeda.equal(o, t) for o in out)
def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("nothing was raised")
"""

STEPS = (
    START
    + """
for options in ({}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 0.0001}, {"static_graph": True},
                {"find_unused_parameters": True}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.0004}):
    for to_none in (True, False):
        alone = net()
        model = DDP(net(seed=rank), **options)  # rank 0's parameters are everybody's
        opts = [taeda.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (alone, model)]
        for step in range(4):
            for opt in opts: opt.zero_grad(set_to_none=to_none)
            loss(alone(X), Y).backward()
            loss(model(X[mine]), Y[mine]).backward()
            for p, q in zip(alone.parameters(), model.parameters()):
                close(p.grad, q.grad)
                same_everywhere(q.grad)
            for opt in opts: opt.step()
        assert list(model.state_dict()) == ["module." + name for name in alone.state_dict()]
    # gradients add up locally, and the sum is reduced
    model, alone = DDP(net(), **options), net()
    with model.no_sync():
        loss(model(X[mine]), Y[mine]).backward()
    loss(model(X[mine]), Y[mine]).backward()
    for _ in range(2): loss(alone(X), Y).backward()
    for p, q in zip(alone.parameters(), model.parameters()):
        close(p.grad, q.grad)
    taeda.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
# forward without backward, evaluation
model = DDP(net())
model(X[mine]); model(X[mine])
with taeda.no_grad(): model(X[mine])
loss(model(X[mine]), Y[mine]).backward()
same_everywhere(model.module[0].weight.grad)
# dtypes in buckets of their own
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3).double()
    def forward(self, x): return self.b(self.a(x).double())
model = DDP(Two())
model(taeda.full((1, 3), float(rank))).sum().backward()
same_everywhere(model.module.a.weight.grad); same_everywhere(model.module.b.weight.grad)
"""
)

LEFT = (
    START
    + """
from types import SimpleNamespace
from taeda.utils.checkpoint import checkpoint
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(taeda.ones(1)) for _ in range(3))
    def forward(self, x, names, form=lambda t: t):
        return form(sum(getattr(self, name) * x for name in names))
x = taeda.tensor([float(rank + 1)])
mean = (size + 1) / 2
def grads(model):
    return [p.grad if p.grad is None else p.grad.item() for p in model.parameters()]
def check(model, *want):
    got = grads(model)
    assert all(g is w is None or abs(g - w) < 1e-6 for g, w in zip(got, want)), (got, want)
for views in (False, True):
    made = lambda **more: DDP(Heads(), gradient_as_bucket_view=views, **more)
    unused = lambda: made(find_unused_parameters=True)
    model = unused()  # used under no_sync only
    with model.no_sync(): model(x, "a").backward()
    model(x, "b").backward()
    check(model, mean, mean, None)
    model = unused()  # accumulated, then used on one rank only
    model(x, "ab").backward()
    model(taeda.tensor([10.0]), "ab" if rank else "a").backward()
    check(model, mean + 10, mean + 10 * (size - 1) / size, None)
    model = unused()  # accumulated, then used nowhere
    model(x, "ab").backward()
    before = model.module.b.grad
    model(x, "a").backward()
    check(model, 2 * mean, mean, None)
    assert model.module.b.grad is before
    for form, back in ((lambda t: SimpleNamespace(t=t), lambda o: o.t), (lambda t: {t}, lambda o: o.pop()),
                       (lambda t: lambda: t, lambda o: o()), (lambda t: iter([t]), next)):
        model = unused()
        back(model(x, "a", form)).backward()
        check(model, mean, None, None)
    model = unused()  # two forwards, one backward; and around the wrapper
    (model(x, "a") + model(x, "b") + model.module(x, "c")).backward()
    check(model, mean, mean, mean)
    model = made()  # two forwards, a backward each
    one, two = model(x, "abc"), model(x, "abc")
    one.backward(); two.backward()
    check(model, 2 * mean, 2 * mean, 2 * mean)
    model = made()  # forward outside of no_sync, backward inside
    out = model(x, "abc")
    with model.no_sync(): out.backward()
    check(model, mean, mean, mean)
    model = made()  # two losses over parts of one forward, then only one of them
    opt = taeda.optim.SGD(model.parameters(), lr=1.0)
    pair = lambda t: (t, model.module.b * model.module.c * x)
    one, two = model(x, "a", pair)
    one.backward(); two.backward()
    check(model, mean, mean, mean)
    one, two = model(x, "a", pair)
    one.backward()
    raises(RuntimeError, "no gradient for 2 of 3 parameters: b, c", opt.step)
    raises(RuntimeError, "no gradient for 2 of 3 parameters: b, c", lambda: model(x, "abc"))
    model = made(check_reduction=True)
    one, two = model(x, "a", pair)
    raises(RuntimeError, "no gradient for 2 of 3 parameters: b, c", one.backward)
    opt = taeda.optim.SGD(model.parameters(), lr=1.0)
    raises(RuntimeError, "no gradient for 2 of 3 parameters: b, c", opt.step)
    model = made()  # a gradient around the wrapper is not stepped on, unless it is averaged
    opt = taeda.optim.SGD(model.parameters(), lr=1.0)
    model.module(x, "b").backward()
    raises(RuntimeError, "this rank alone: b got them around", opt.step)
    taeda.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0).step()
    model(x, "abc").backward()
    opt.step()
    same_everywhere(model.module.b)
    # static: unused parameters, several checkpoints, and a graph that changes
    model = made(static_graph=True)
    for step in range(3):
        model.zero_grad()
        model(x, "ab" if rank else "a").backward()
        check(model, mean, size * (size + 1) / 2 / size - 1 / size, None)
    raises(RuntimeError, "c got more gradients", lambda: model(x, "ac").backward())
    model = made(static_graph=True)
    twice = lambda t: checkpoint(lambda y: model.module.a * y, t, use_reentrant=True)
    for step in range(3):
        model.zero_grad()
        y = x.clone().requires_grad_()
        model(y, "b", lambda t: twice(twice(t))).backward()
        check(model, 2 * mean, mean, None)
        assert (size > 1) <= model.reducer.rebuilt
    # frozen later, and ignored
    model = made()
    model(x, "abc").backward()
    model.zero_grad()
    model.module.b.requires_grad_(False)
    model(x, "abc").backward()
    check(model, mean, None, mean)
    model.module.b.requires_grad_(True)
    model(x, "abc").backward()
    check(model, 2 * mean, mean, 2 * mean)
    model.module.a.requires_grad_(rank == 0)
    raises(dist.DistMismatchError, "frozen", lambda: model(x, "abc").backward())
    module = Heads()
    module.b.data.fill_(rank)
    DDP._set_params_and_buffers_to_ignore_for_model(module, ["b"])
    model = DDP(module, gradient_as_bucket_view=views)
    model(x, "abc").backward()
    check(model, mean, rank + 1, mean)
    assert module.b.item() == rank and module.b._ddp_ignored
    module.b = nn.Parameter(taeda.ones(1))
    model(x, "abc")
    # buckets of nothing are not sent, if that holds for all ranks
    model = made(skip_all_reduce_unused_params=True, bucket_cap_mb=1e-6)
    sent = []
    model.register_comm_hook(None, lambda _, bucket: sent.append(bucket.index()) or
                             dist.all_reduce(bucket.buffer().div_(size), async_op=True).get_future())
    model(x, "ac").backward()
    check(model, mean, None, mean)
    assert len(sent) == 2 and len(model.reducer.buckets) == 3, sent
# ranks without inputs give what they had not given yet, and the others' gradients keep their base
for options in ({}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}):
    model = DDP(Heads(), **options)
    with model.join():
        for step in range(2 + rank):
            model(x, "abc").backward()  # never cleared
    given = 2 * sum(range(1, size + 1)) / size
    late = sum((r + 1) * r for r in range(size)) / size
    check(model, *[given + late] * 3)
    model = DDP(Heads(), **options)
    with model.join():
        model.zero_grad()
        with model.no_sync(): model(x, "abc").backward()
        if rank: model(x, "abc").backward()
    check(model, *[(2 * sum(range(2, size + 1)) + 1) / size] * 3)
"""
)

MIXED = (
    START
    + """
model = DDP(net())
scaler, opt = taeda.amp.GradScaler("cpu"), taeda.optim.SGD(model.parameters(), lr=0.1)
with taeda.autocast("cpu", dtype=taeda.bfloat16):
    value = loss(model(X[mine]).float(), Y[mine])
scaler.scale(value).backward(); scaler.step(opt); scaler.update()
same_everywhere(model.module[0].weight)
"""
)

UNUSED = (
    START
    + """
class Some(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare, self.never = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(6, 2)
    def forward(self, x, spare=False):
        return {"out": [self.spare(x) if spare else self.used(x)]}
model = DDP(Some())
raises(RuntimeError, "spare.weight", lambda: model(X[mine])["out"][0].sum().backward())
raises(RuntimeError, "find_unused_parameters=True", lambda: model(X[mine]))
model = DDP(Some(), find_unused_parameters=True)
for step in range(3):
    for p in model.parameters(): p.grad = None
    model(X[mine], spare=rank == 0)["out"][0].sum().backward()
    same_everywhere(model.module.spare.weight.grad)
    same_everywhere(model.module.used.weight.grad)
    assert model.module.never.weight.grad is None
    want = X[:8].sum(0) / size
    close(model.module.spare.weight.grad[0], want, 1e-4)
model.module.never = nn.Linear(6, 2)
raises(
    RuntimeError,
    "wrap it again",
    lambda: (
        setattr(model.module.used, "weight", nn.Parameter(taeda.ones(2, 6))),
        model(X[mine]),
    ),
)
# ranks with other parameters
raises(dist.DistMismatchError, "DistributedDataParallel", lambda: DDP(nn.Linear(3, 2 + rank % 2)))
dist.barrier()
raises(RuntimeError, "no parameter", lambda: DDP(nn.ReLU()))
raises(ValueError, "device_ids", lambda: DDP(net(), device_ids=[0]))
raises(TypeError, "Module", lambda: DDP(3))
raises(ValueError, "bucket_cap_mb", lambda: DDP(net(), bucket_cap_mb=0))
# the graph is walked through checkpoints
from taeda.utils.checkpoint import checkpoint
class Long(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
    def forward(self, x):
        for part in self.parts:
            x = checkpoint(lambda y, p=part: p(y).tanh(), x, use_reentrant=False)
        return x
taeda.manual_seed(0)
model = DDP(Long())
for _ in range(2):
    model(X[mine]).sum().backward()
same_everywhere(model.module.parts[0].weight.grad)
"""
)

HOOKS = (
    START
    + """
from taeda.futures import Future
seen = []
def mean_hook(state, bucket):
    state.append((bucket.index(), bucket.is_last(), len(bucket.gradients()), len(bucket.parameters())))
    work = dist.all_reduce(bucket.buffer().div_(size), async_op=True)
    return work.get_future().then(lambda f: f.value()[0])
alone, model = net(), DDP(net(), bucket_cap_mb=0.0004)
model.register_comm_hook(seen, mean_hook)
raises(RuntimeError, "already", lambda: model.register_comm_hook(None, mean_hook))
loss(alone(X), Y).backward(); loss(model(X[mine]), Y[mine]).backward()
for p, q in zip(alone.parameters(), model.parameters()): close(p.grad, q.grad)
assert seen[-1][1] and not seen[0][1] and sum(s[2] for s in seen) == 6, seen
other = DDP(net())
raises(TypeError, "callable", lambda: other.register_comm_hook(None, 3))
def wrong(state, bucket: int): ...
raises(ValueError, "GradBucket", lambda: other.register_comm_hook(None, wrong))
other.register_comm_hook(None, lambda state, bucket: bucket.buffer())
raises(RuntimeError, "Future", lambda: other(X[mine]).sum().backward())
# join: ranks with other numbers of inputs
for options in ({}, {"divide_by_initial_world_size": False}):
    model = DDP(nn.Linear(2, 1, bias=False))
    opt = taeda.optim.SGD(model.parameters(), lr=0.1)
    grads = []
    with model.join(**options):
        for step in range(3 + 2 * rank):
            opt.zero_grad()
            model(taeda.ones(1, 2)).sum().backward()
            grads.append(model.module.weight.grad[0, 0].item())
            opt.step()
    same_everywhere(model.module.weight.detach())
    late = 1.0 if options else 1 / size
    assert (
        grads[:3] == [1.0] * 3
        and all(abs(g - late) < 1e-6 for g in grads[5:] if size == 2 or rank == size - 1)
        or rank == 0
    ), grads
"""
)


@pytest.mark.parametrize("size", [2, 4])
def test_steps(mpi, size):
    all_well(run_ranks(STEPS, size, timeout=90))


def test_autocast_and_scaling(mpi):
    pytest.importorskip(
        "taeda.amp", reason="mixed precision comes with taeda-amp, which is not needed here"
    )
    all_well(run_ranks(MIXED, 2))


def test_unused_parameters_and_refusals(mpi):
    all_well(run_ranks(UNUSED, 2))


@pytest.mark.parametrize("size", [2, 3])
def test_no_gradient_is_lost_or_left_local(mpi, size):
    all_well(run_ranks(LEFT, size, timeout=90))


def test_hooks_and_join(mpi):
    all_well(run_ranks(HOOKS, 2))


def test_data_parallel_calls_its_module():
    model = DataParallel(nn.Linear(3, 2), device_ids=None)
    x = taeda.randn(4, 3)
    assert taeda.equal(model(x), model.module(x))
    assert taeda.equal(data_parallel(model.module, x), model(x))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]


def test_it_needs_a_group():
    with pytest.raises(ValueError, match="init_process_group"):
        DistributedDataParallel(nn.Linear(1, 1))
    assert not dist.is_initialized()


def test_a_parameter_that_joins_later_is_refused():
    """Its gradient would be averaged with nobody's, without a word. A module without parameters may join."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 2)))
        model.module.append(nn.ReLU())
        model(taeda.ones(1, 2)).sum().backward()
        model.module[0].register_parameter("more", nn.Parameter(taeda.ones(2)))
        with pytest.raises(
            RuntimeError, match=r"'0\.more' joined the module .* wrap the module again"
        ):
            model(taeda.ones(1, 2))
        wrapped = DistributedDataParallel(model.module)
        model.module.append(nn.Linear(2, 2))
        with pytest.raises(RuntimeError, match=r"'2\.weight', '2\.bias' joined"):
            wrapped(taeda.ones(1, 2))
    finally:
        dist.destroy_process_group()
