"""What the reference's pages promise of calls that are right: nn, optim, amp, checkpoints and data.
A function is a promise; its name says it. What bad input meets is in `test_promises.py`.
"""

from __future__ import annotations

import copy
import io
import math
import pickle
import threading
import warnings
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from promises import keep, leaf, promises, raises

import taeda
from taeda import amp, autograd, nn, ones, optim
from taeda.nn import functional as F
from taeda.optim import lr_scheduler as rates
from taeda.optim.swa_utils import AveragedModel, update_bn
from taeda.utils import data
from taeda.utils.checkpoint import checkpoint

# ---- nn ----


def loading_tells_all_that_does_not_fit_and_copies_what_fits():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    state = model.state_dict()
    wrong = {"0.weight": taeda.zeros(2, 2), "0.bias": ones(5), "more": ones(1)}
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(wrong)
    for word in ("1.weight", "1.bias", "more", "0.bias"):
        assert word in str(caught.value)
    assert not state["0.weight"].any()
    raises(RuntimeError, lambda: model.load_state_dict({"0.bias": ones(5)}, strict=False))


def tied_parameters_stay_tied():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    assert len(list(model.parameters())) == 3
    assert len(model.state_dict()) == 4
    for other in (model.double(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other[0].weight is other[1].weight
    stream = io.BytesIO()
    taeda.save(model, stream)
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = taeda.load(stream, weights_only=False)
    assert read[0].weight is read[1].weight


def hooks_of_calls_come_in_order_and_always_if_asked():
    seen = []

    class Fails(nn.Module):
        def forward(self, x):
            if x is None:
                raise KeyError
            return x * 1

    model = Fails()
    model.register_forward_pre_hook(lambda m, a: seen.append("pre"))
    model.register_forward_hook(lambda m, a, o: seen.append("after"))
    model.register_forward_hook(lambda m, a, o: seen.append(o), always_call=True)
    model.register_full_backward_pre_hook(lambda m, g: seen.append("back pre"))
    handle = model.register_full_backward_hook(
        lambda m, i, o: (handle.remove(), seen.append("back"))[1]
    )
    x = leaf()
    out = model(x)
    out.sum().backward()
    assert [s for s in seen if isinstance(s, str)] == ["pre", "after", "back pre", "back"]
    seen.clear()
    raises(KeyError, lambda: model(None))
    assert seen == ["pre", None]


def batch_norm_keeps_unbiased_variance_and_normalizes_by_the_biased():
    x, layer = taeda.tensor([[1.0], [2.0], [6.0]]), nn.BatchNorm1d(1)
    y = layer(x)
    assert y.var(correction=0).item() == pytest.approx(1, abs=1e-4)
    assert layer.running_var.item() == pytest.approx(0.9 + 0.1 * x.var().item())
    cumulative = nn.BatchNorm1d(1, momentum=None)
    for shift in (0, 1, 5):
        cumulative(x + shift)
    assert cumulative.running_mean.item() == pytest.approx(5)
    assert cumulative.num_batches_tracked.item() == 3
    raises(ValueError, lambda: nn.BatchNorm1d(1)(ones(1, 1)))


def wholly_masked_rows_of_attention_are_zeros():
    q = taeda.randn(1, 2, 4, 8)
    mask = ones(4, 4, dtype=taeda.bool)
    mask[1] = False
    added = taeda.zeros(4, 4).masked_fill(~mask, -math.inf)
    for m in (mask, added):
        assert not F.scaled_dot_product_attention(q, q, q, m)[:, :, 1].any()


def embeddings_renormalize_in_place_and_leave_padding_alone():
    layer = nn.Embedding(4, 3, padding_idx=1, max_norm=1.0)
    assert not layer.weight[1].any()
    with taeda.no_grad():
        layer.weight[2] = 5.0
    layer(taeda.tensor([1, 2])).sum().backward()
    assert layer.weight[2].norm().item() == pytest.approx(1, rel=1e-5)
    assert not layer.weight.grad[1].any()


def class_weights_divide_the_mean():
    x, t, w = taeda.randn(4, 3), taeda.tensor([0, 2, 1, -100]), taeda.tensor([1.0, 2.0, 3.0])
    each = F.cross_entropy(x, t, w, reduction="none")
    total = w[t[:3]].sum()
    assert F.cross_entropy(x, t, w).item() == pytest.approx((each.sum() / total).item(), rel=1e-5)
    assert math.isnan(F.cross_entropy(x, taeda.full((4,), -100)).item())


def parametrizations_are_assigned_through_their_inverse():
    class Doubled(nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, x):
            return x / 2

    layer = nn.Linear(2, 2)
    nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
    layer.weight = ones(2, 2)
    assert layer.weight.tolist() == [[1, 1], [1, 1]]
    assert layer.parametrizations.weight.original.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert "parametrizations.weight.original" in layer.state_dict()


def lazy_modules_keep_their_parameters():
    layer = nn.LazyLinear(2)
    rates_of = optim.SGD(layer.parameters(), lr=1.0)
    layer(ones(1, 3)).sum().backward()
    assert type(layer) is nn.Linear
    before = layer.weight.detach().clone()
    rates_of.step()
    assert taeda.equal(layer.weight, before - 1)


# ---- optim ----


def states_are_told_by_place_and_load_without_a_change_of_steps():
    def made():
        p = [nn.Parameter(ones(2)), nn.Parameter(ones(1))]
        return p, optim.AdamW(p, lr=0.1)

    def step(p, o):
        for q in p:
            q.grad = taeda.full_like(q, 0.5)
        o.step()

    p, o = made()
    step(p, o)
    q, other = made()
    with taeda.no_grad():
        for a, b in zip(q, p, strict=True):
            a.copy_(b)
    other.load_state_dict(copy.deepcopy(o.state_dict()))
    assert set(o.state_dict()["state"]) == {0, 1}
    assert other.state[q[0]]["step"].dtype is o.state[p[0]]["step"].dtype
    step(p, o)
    step(q, other)
    assert all(taeda.equal(a, b) for a, b in zip(p, q, strict=True))


def a_closure_runs_with_gradients_and_parameters_without_are_left():
    p, other = nn.Parameter(ones(1)), nn.Parameter(ones(1))
    o = optim.Adam([p, other], lr=0.1)

    def closure():
        assert taeda.is_grad_enabled()
        o.zero_grad()
        assert p.grad is None
        loss = (p * 2).sum()
        loss.backward()
        return loss

    with taeda.no_grad():
        assert o.step(closure).item() == 2
    assert other.item() == 1
    assert other not in o.state


def schedules_resume_in_the_middle_as_if_nothing_had_been():
    makers = (
        lambda o: rates.CosineAnnealingLR(o, 7),
        lambda o: rates.CosineAnnealingWarmRestarts(o, 3, 2),
        lambda o: rates.StepLR(o, 3),
        lambda o: rates.OneCycleLR(o, 0.5, total_steps=30),
        lambda o: rates.CyclicLR(o, 0.01, 0.1, 3, cycle_momentum=False),
        lambda o: rates.PolynomialLR(o, 9, 2.0),
        lambda o: rates.SequentialLR(
            o, [rates.LinearLR(o, 0.1, 1.0, 3), rates.ExponentialLR(o, 0.9)], [3]
        ),
    )
    for make in makers:
        whole = _rates_of(make, 12)
        assert _rates_of(make, 12, stop=5) == whole
        assert len(set(whole)) > 3


def _rates_of(make, count, stop=None):
    o = optim.SGD([nn.Parameter(ones(1))], lr=0.1, momentum=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schedule, seen = make(o), []
        for n in range(count):
            if n == stop:
                states = o.state_dict(), schedule.state_dict()
                o = optim.SGD([nn.Parameter(ones(1))], lr=0.1, momentum=0.9)
                schedule = make(o)
                o.load_state_dict(states[0])
                schedule.load_state_dict(states[1])
            seen.append(o.param_groups[0]["lr"])
            o.step()
            schedule.step()
    return seen


def averaged_models_copy_and_renew_statistics():
    model = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    mean = AveragedModel(model)
    with taeda.no_grad():
        for value in (1.0, 2.0, 6.0):
            model[0].weight.fill_(value)
            mean.update_parameters(model)
    assert mean.module[0].weight.item() == pytest.approx(3)
    assert mean.n_averaged.item() == 3
    mean.eval()
    update_bn([ones(4, 1), 3 * ones(4, 1)], mean)
    assert not mean.training
    assert mean.module[1].momentum == 0.1
    assert mean.module[1].num_batches_tracked.item() == 2


# ---- amp and checkpoints ----


def autocast_has_islands_and_ends_with_its_block():
    a = ones(2, 2)

    @amp.autocast("cpu", dtype=taeda.bfloat16)
    def within():
        inner = (a @ a).dtype
        with amp.autocast("cpu", enabled=False):
            island = (a @ a).dtype
        seen = []
        other = threading.Thread(target=lambda: seen.append((a @ a).dtype))
        other.start()
        other.join()
        into = taeda.mm(a, a, out=taeda.empty(2, 2)).dtype
        return inner, island, seen[0], into, (a.double() @ a.double()).dtype

    f32 = taeda.float32
    assert within() == (taeda.bfloat16, f32, f32, f32, taeda.float64)
    with pytest.raises(KeyError), amp.autocast("cpu"):
        raise KeyError
    assert (a @ a).dtype is f32


def a_scaler_keeps_optimizers_apart():
    p, q = nn.Parameter(ones(1)), nn.Parameter(ones(1))
    one, two = optim.SGD([p], 1.0), optim.SGD([q], 1.0)
    scaler = amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale((p * math.inf).sum() + q.sum()).backward()
    scaler.step(one)
    scaler.unscale_(two)
    raises(RuntimeError, lambda: scaler.unscale_(two))
    scaler.step(two)
    scaler.update()
    assert (p.item(), q.item(), scaler.get_scale()) == (1, 0, 4)


def a_checkpoint_stops_early_and_takes_any_arguments():
    runs = []

    def part(x, *, options):
        y = (x["a"] * options["by"]).sin()
        runs.append("half")
        z = y.exp()
        runs.append("whole")
        return z + 1

    x = leaf()
    out = checkpoint(part, {"a": x}, options={"by": 2.0}, use_reentrant=False)
    grad = autograd.grad(out.sum(), x)[0]
    wanted = autograd.grad(part({"a": x}, options={"by": 2.0}).sum(), x)[0]
    assert taeda.equal(grad, wanted)
    assert runs[:3] == ["half", "whole", "half"]


# ---- data ----


class Numbers(data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        if k == 13:
            raise KeyError("thirteen")
        return k


class Batches(Numbers):
    def __getitems__(self, places):
        return [10 * p for p in places]


class Shared(data.IterableDataset):
    def __iter__(self):
        info = data.get_worker_info()
        yield from range(info.id, 7, info.num_workers)


def collation_keeps_types():
    Pair = namedtuple("Pair", "a b")
    globals()["Pair"] = Pair
    samples = [
        {"x": 1, "y": 2.0, "s": "a", "t": (1, True), "p": Pair(1, np.float32(2))},
        {"x": 3, "y": 4.0, "s": "b", "t": (2, False), "p": Pair(3, np.float32(4))},
    ]
    made = data.default_collate(samples)
    assert (made["x"].dtype, made["y"].dtype) == (taeda.int64, taeda.float64)
    assert made["s"] == ["a", "b"]
    assert isinstance(made["t"], list)
    assert made["t"][1].dtype is taeda.bool
    assert isinstance(made["p"], Pair)
    assert made["p"].b.dtype is taeda.float32
    assert type(data.default_collate([OrderedDict(a=1)])) is OrderedDict
    raises(TypeError, lambda: data.default_collate([{1, 2}]))
    raises(TypeError, lambda: data.default_collate([None]))


def loaders_give_the_order_of_the_sampler_with_workers():
    order = [5, 3, 9, 0, 7, 1]
    for workers in (0, 2):
        loader = data.DataLoader(Numbers(10), 2, sampler=order, num_workers=workers)
        assert [b.tolist() for b in loader] == [[5, 3], [9, 0], [7, 1]]
    assert [b.tolist() for b in data.DataLoader(Batches(4), 2)] == [[0, 10], [20, 30]]
    assert list(data.DataLoader(Numbers(3), None)) == [0, 1, 2]


def a_worker_that_runs_dry_does_not_end_the_epoch():
    loader = data.DataLoader(Shared(), 3, num_workers=2)
    assert [b.tolist() for b in loader] == [[0, 2, 4], [1, 3, 5], [6]]


def errors_of_workers_keep_their_type():
    loader = data.DataLoader(Numbers(20), 5, num_workers=2)
    with pytest.raises(KeyError) as caught:
        list(loader)
    assert "thirteen" in str(caught.value)
    assert "worker" in str(caught.value)


def making_an_iterator_draws_once_from_the_generator():
    taeda.manual_seed(0)
    first = taeda.randint(2**40, (2,)).tolist()
    taeda.manual_seed(0)
    iter(data.DataLoader(Numbers(3)))
    assert taeda.randint(2**40, (1,)).tolist() != first[:1]
    own = taeda.Generator().manual_seed(1)
    taeda.manual_seed(0)
    list(data.DataLoader(Numbers(3), shuffle=True, generator=own))
    assert taeda.randint(2**40, (2,)).tolist() == first


def splits_give_the_rest_in_turn():
    parts = data.random_split(range(11), [0.4, 0.3, 0.3])
    assert [len(p) for p in parts] == [5, 3, 3]
    assert sorted(x for p in parts for x in p) == list(range(11))


def shares_of_ranks_are_of_one_length_and_one_order():
    def share(rank, drop, epoch=0):
        sampler = data.distributed.DistributedSampler(
            range(10), num_replicas=3, rank=rank, drop_last=drop
        )
        sampler.set_epoch(epoch)
        return list(sampler)

    for drop, size in ((False, 4), (True, 3)):
        shares = [share(r, drop) for r in range(3)]
        assert {len(s) for s in shares} == {size}
        assert len({x for s in shares for x in s}) == (9 if drop else 10)
    assert share(0, False) != share(0, False, epoch=1)
    assert share(0, False) == share(0, False)


KEPT = promises(globals())


@pytest.mark.parametrize("promise", sorted(KEPT))
def test_it_is_kept(promise):
    keep(KEPT[promise])
