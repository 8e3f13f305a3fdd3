"""fully_shard: the numbers of one process, on any number of ranks, for many kinds of model."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda import nn
from taeda.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from taeda.distributed.fsdp import FSDPModule, fully_shard
from taeda.distributed.tensor import DTensor, Shard
from taeda.nn.utils import parametrizations
from taeda.utils.checkpoint import checkpoint

ROWS = 6  # samples: as many for each of 1, 2 and 3 ranks


class Block(nn.Module):
    """A layer with features that a unit has to live with."""

    def __init__(self, width: int = 5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 7)
        self.down = nn.Linear(7, width)
        self.down.weight.requires_grad_(False)
        self.spare = nn.Parameter(taeda.ones(3))  # no gradient comes
        self.scale = nn.Parameter(taeda.ones(1))

    def inner(self, x):
        return self.down(nn.functional.gelu(self.up(self.norm(x))))

    def forward(self, x):
        return x + self.scale * self.inner(x)


class Checkpointed(Block):
    """The block, computed again in backward from inside."""

    def forward(self, x):
        return x + self.scale * checkpoint(self.inner, x, use_reentrant=False)


class Net(nn.Module):
    """Blocks, one of them called twice, between layers that share their weight."""

    def __init__(self, block=Block, around: bool = False, reentrant: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(5, 5)
        self.blocks = nn.ModuleList([block(), block()])
        self.last = nn.Linear(5, 5, bias=False)
        self.last.weight = self.first.weight
        self.around, self.reentrant = around, reentrant

    def forward(self, x):
        x = self.first(x)
        for block in (*self.blocks, self.blocks[0]):
            x = checkpoint(block, x, use_reentrant=self.reentrant) if self.around else block(x)
        return self.last(x)


def data():
    generator = taeda.Generator().manual_seed(3)
    draw = [taeda.randn(ROWS, 5, generator=generator) for _ in range(2)]
    return draw[0], draw[1]


def train(model, optimizer, steps: int, rank: int = 0, size: int = 1, parts: int = 1) -> list:
    """Losses and norms of gradients of some steps on a rank's share, in `parts` backwards."""
    told, share = [], ROWS // size
    x, y = (t[rank * share : (rank + 1) * share] for t in data())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = 0.0
        for a, b in zip(x.chunk(parts), y.chunk(parts), strict=True):
            piece = (model(a) - b).square().mean() / parts
            piece.backward()
            loss += piece.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        told.append((loss, float(norm)))
    return told


def adamw(model):
    return taeda.optim.AdamW(model.parameters(), lr=0.05)


def sharded(seed: nn.Module, reshard=None) -> nn.Module:
    model = copy.deepcopy(seed)
    for block in model.blocks:
        fully_shard(block, reshard_after_forward=reshard)
    return fully_shard(model, reshard_after_forward=reshard)


def agree(one, per_rank) -> bool:
    means = [
        sum(values) / len(values)
        for values in zip(*[[v[0] for v in r] for r in per_rank], strict=True)
    ]
    norms = all(abs(a[1] - b[1]) < 1e-5 for r in per_rank for a, b in zip(r, one, strict=True))
    return norms and all(abs(a - b[0]) < 1e-5 for a, b in zip(means, one, strict=True))


MODELS = {
    "plain": lambda: Net(),
    "checkpoint inside": lambda: Net(Checkpointed),
    "checkpoint around": lambda: Net(around=True),
    "reentrant checkpoint around": lambda: Net(around=True, reentrant=True),
}
OPTIMIZERS = {
    "adamw": adamw,
    "fused adamw": lambda model: taeda.optim.AdamW(model.parameters(), lr=0.05, fused=True),
    "momentum": lambda model: taeda.optim.SGD(model.parameters(), lr=0.05, momentum=0.9),
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("reshard", [None, True, False])
def test_losses_norms_and_parameters_are_those_of_one_process(size, name, reshard):
    taeda.manual_seed(0)
    seed = MODELS[name]()
    one = copy.deepcopy(seed)
    losses = train(one, adamw(one), 3)

    models = [copy.deepcopy(seed) for _ in range(size)]

    def work(rank):
        model = sharded(models[rank], reshard)
        told = train(model, adamw(model), 3, rank, size)
        assert all(type(p) is DTensor for p in model.parameters())
        return told, {n: v.detach().full_tensor() for n, v in model.state_dict().items()}

    results = on_threads(size, work)
    assert agree(losses, [told for told, _ in results])
    for _, state in results:
        assert list(state) == list(one.state_dict())
        for key, value in one.state_dict().items():
            assert taeda.allclose(state[key], value, atol=1e-5), key


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_and_accumulated_gradients(name):
    taeda.manual_seed(0)
    seed = Net()
    one = copy.deepcopy(seed)
    losses = train(one, OPTIMIZERS[name](one), 2, parts=3)
    models = [copy.deepcopy(seed) for _ in range(2)]

    def work(rank):
        model = sharded(models[rank])
        return train(model, OPTIMIZERS[name](model), 2, rank, 2, parts=3)

    assert agree(losses, on_threads(2, work))


LAYERS = {
    "recurrent": lambda: [
        Part(nn.LSTM(5, 5, 2, bidirectional=True, batch_first=True)),
        nn.Linear(10, 5),
    ],
    "transformer": lambda: [
        nn.TransformerEncoderLayer(5, 1, 8, dropout=0.0, batch_first=True),
        nn.Linear(5, 5),
    ],
    "convolution": lambda: [
        nn.Conv1d(1, 5, 2, padding=1),
        nn.GroupNorm(5, 5),
        nn.PReLU(5),
        nn.LazyLinear(5),
    ],
    "parametrized": lambda: [parametrizations.weight_norm(nn.Linear(5, 3)), nn.Linear(3, 5)],
    "embedding": lambda: [Codes(), nn.Embedding(7, 2), nn.Linear(2, 5)],
}


class Part(nn.Module):
    """The first result of a layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Codes(nn.Module):
    """Whole numbers below 7."""

    def forward(self, x):
        return x.abs().mul(10).long() % 7


class Rows(nn.Sequential):
    """Layers over sequences of one row."""

    def forward(self, x):
        return super().forward(x.unsqueeze(1)).flatten(1)[:, :5]


@pytest.mark.parametrize("name", LAYERS)
def test_kinds_of_layers(name):
    taeda.manual_seed(0)
    seed = Rows(*LAYERS[name]())
    seed(data()[0])  # lazy layers learn their shapes
    one = copy.deepcopy(seed)
    losses = train(one, adamw(one), 3)
    models = [copy.deepcopy(seed) for _ in range(2)]

    def work(rank):
        model = models[rank]
        fully_shard(model[0])
        fully_shard(model)
        return train(model, adamw(model), 3, rank, 2)

    assert agree(losses, on_threads(2, work))


def test_a_rank_holds_its_rows_and_a_parameter_of_one_row_lies_on_rank_0():
    def work(rank):
        model = fully_shard(nn.Linear(2, 5))
        assert isinstance(model, FSDPModule) and type(model).__name__ == "FSDPLinear"
        assert isinstance(model, nn.Linear) and isinstance(model.weight, nn.Parameter)
        assert model.weight.placements == (Shard(0),) and model.weight.shape == (5, 2)
        return [
            p.detach().to_local().shape[0] for p in fully_shard(nn.LayerNorm(1)).parameters()
        ] + [model.weight.detach().to_local().shape[0]]

    assert on_threads(4, work) == [[1, 1, 2], [0, 0, 2], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("grad", [True, False])
def test_whole_parameters_are_gone_after_forward_and_backward(grad):
    def work(rank):
        model = fully_shard(
            nn.Sequential(fully_shard(nn.Linear(4, 4)), nn.Tanh()), reshard_after_forward=True
        )
        seen = []
        model[0].register_forward_pre_hook(
            lambda m, _: seen.append(weakref.ref(m._fsdp_unit.wholes[0]))
        )
        with taeda.set_grad_enabled(grad):
            out = model(taeda.ones(2, 4, requires_grad=grad))
            gc.collect()
            assert seen[0]() is None and model[0]._fsdp_unit.wholes is None
            if grad:
                out.sum().backward()
                gc.collect()
        assert model[0]._fsdp_unit.wholes is None and type(model[0].weight) is DTensor

    on_threads(2, work)


def test_one_gather_and_one_reduction_for_a_unit_that_stays_gathered():
    from taeda.distributed._groups import recorder

    def work(rank):
        model = fully_shard(nn.Linear(4, 4))
        group = dist.group.WORLD
        before = group._seq
        model(taeda.ones(1, 4)).sum().backward()
        assert recorder.calls  # the recorder is what a trace shows
        return group._seq - before

    assert on_threads(2, work) == [2, 2]


def test_a_parameter_that_no_rank_uses_has_no_gradient_and_one_that_some_use_has():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (nn.Parameter(taeda.ones(2)) for _ in range(3))

        def forward(self, x, both):
            return (x * self.a + (self.b if both else 0.0)).sum()

    def work(rank):
        model = fully_shard(Two())
        model(taeda.ones(2), rank == 0).backward()
        return (
            model.a.grad.full_tensor().tolist(),
            model.b.grad.full_tensor().tolist(),
            model.c.grad,
        )

    assert on_threads(2, work) == [([1, 1], [0.5, 0.5], None)] * 2


def test_writes_that_would_falsify_a_gradient_are_noticed():
    def work(rank):
        model = fully_shard(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
        out = model(taeda.ones(1, 2))
        with taeda.no_grad():
            model[0].weight.mul_(2)
            model[1].weight.mul_(2)
        with pytest.raises(RuntimeError, match="sharded parameter was written"):
            out.sum().backward()
        out = model(taeda.ones(1, 2))  # and the model can be used again
        out.sum().backward()
        model2 = fully_shard(_Writes())
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            model2(taeda.ones(1, 2)).sum().backward()
        return type(model[0].weight) is DTensor

    assert on_threads(2, work) == [True, True]


class _Writes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        y = self.layer(x).exp()
        z = y * 2
        y.add_(1)
        return z


@pytest.mark.parametrize(("first", "second"), [(2, 1), (2, 3), (3, 2), (1, 3)])
def test_training_goes_on_from_a_checkpoint_of_another_number_of_ranks(tmp_path, first, second):
    taeda.manual_seed(0)
    seed = Net()
    one = copy.deepcopy(seed)
    losses = train(one, adamw(one), 4)

    def starts(rank, size, steps, load, models):
        model = sharded(models[rank])
        optimizer = adamw(model)
        if load:
            state, opt = get_state_dict(model, optimizer)
            found = {"model": state, "opt": opt}
            dcp.load(found, checkpoint_id=tmp_path)
            set_state_dict(model, optimizer, model_state_dict=state, optim_state_dict=found["opt"])
        told = train(model, optimizer, steps, rank, size)
        optimizer.zero_grad()
        state, opt = get_state_dict(model, optimizer)
        dcp.save({"model": state, "opt": opt}, checkpoint_id=tmp_path)
        return told

    models = [copy.deepcopy(seed) for _ in range(first)]
    before = on_threads(first, lambda rank: starts(rank, first, 2, False, models))
    taeda.manual_seed(9)
    others = [Net() for _ in range(second)]
    after = on_threads(second, lambda rank: starts(rank, second, 2, True, others))
    assert agree(losses[:2], before) and agree(losses[2:], after)


def test_whole_states_fit_a_model_that_is_not_sharded():
    taeda.manual_seed(0)
    seed = Net()
    models = [copy.deepcopy(seed) for _ in range(2)]

    def work(rank):
        model = sharded(models[rank])
        optimizer = adamw(model)
        train(model, optimizer, 2, rank, 2)
        optimizer.zero_grad()
        whole = StateDictOptions(full_state_dict=True)
        state, opt = get_state_dict(model, optimizer, options=whole)
        set_state_dict(model, optimizer, model_state_dict=state, optim_state_dict=opt)
        once = StateDictOptions(full_state_dict=True, cpu_offload=True)
        again, _ = get_state_dict(model, optimizer, options=once)
        assert bool(again) == (rank == 0)
        return state, opt, train(model, optimizer, 1, rank, 2)

    results = on_threads(2, work)
    one = copy.deepcopy(seed)
    optimizer = adamw(one)
    set_state_dict(one, optimizer, model_state_dict=results[0][0], optim_state_dict=results[0][1])
    assert agree(train(one, optimizer, 1), [told for _, _, told in results])


def test_refusals():
    def work(rank):
        with pytest.raises(TypeError, match="list"):
            fully_shard([3])
        with pytest.raises(ValueError, match="ModuleList"):
            fully_shard(nn.ModuleList([nn.Linear(1, 1)]))
        model = fully_shard(nn.Linear(2, 2))
        with pytest.raises(AssertionError, match="before"):
            fully_shard(model)
        with pytest.raises(TypeError, match="cannot be copied"):
            copy.deepcopy(model)
        with pytest.raises(ValueError, match="reshard_after_forward=2"):
            fully_shard(nn.Linear(1, 1), reshard_after_forward=2)
        with pytest.raises(TypeError, match="reshard_after_forward"):
            fully_shard(nn.Linear(1, 1), reshard_after_forward="2")
        with pytest.raises(RuntimeError, match="unit Linear are on meta: call to_empty"):
            fully_shard(nn.Linear(2, 2, device="meta"))(taeda.ones(1, 2))
        with pytest.raises(AssertionError, match="float64"):
            fully_shard(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1).double()))
        net = Net()
        fully_shard(net.first)
        with pytest.raises(ValueError, match=r"last\.weight is shared"):
            fully_shard(net)
        number = nn.Module()
        number.p = nn.Parameter(taeda.tensor(1.0))
        with pytest.raises(ValueError, match="p has no dimension"):
            fully_shard(number)
        with pytest.raises(TypeError, match="mesh"):
            fully_shard(nn.Linear(1, 1), mesh="cpu")
        mesh = dist.init_device_mesh("cpu", (1, 1, 1))
        with pytest.raises(ValueError, match="3 dimensions"):
            fully_shard(nn.Linear(1, 1), mesh=mesh)

    on_threads(1, work)
