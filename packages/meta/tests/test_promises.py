"""What bad input meets, by the promises of the reference: the documented exception for each call,
across autograd, func, nn, optim, amp, checkpoints and data. A row is a call and its exceptions.
"""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import amp, autograd, func, nn, optim
from taeda.nn import functional as F
from taeda.nn.utils import rnn
from taeda.optim import lr_scheduler as rates
from taeda.optim.swa_utils import AveragedModel
from taeda.utils import data
from taeda.utils.checkpoint import checkpoint

X = taeda.arange(6.0).reshape(3, 2)
IMAGE = taeda.ones(2, 3, 4, 4)
TEN = list(range(10))


def leaf(*shape, **options):
    return taeda.ones(*(shape or (2,)), requires_grad=True, **options)


def parameter():
    return nn.Parameter(taeda.ones(2))


def assigned(gradient):
    x = leaf()
    x.grad = x if gradient is None else gradient


def walked(hook):
    y = leaf() * 2
    y.register_hook(hook)
    y.sum().backward()


def dual(primal, tangent):
    with autograd.forward_ad.dual_level():
        autograd.forward_ad.make_dual(primal, tangent)


def stepped(make, gradient):
    one = parameter()
    one.grad = gradient
    make(one).step()


def scaled(wrong):
    one, scaler = parameter(), amp.GradScaler("cpu")
    optimizer = optim.SGD([one])
    scaler.scale(one.sum()).backward()
    wrong(scaler, optimizer)


def twice(name):
    def run(scaler, optimizer):
        getattr(scaler, name)(optimizer)
        getattr(scaler, name)(optimizer)

    return run


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))


AUTOGRAD = {
    "no graph": (lambda: taeda.ones(2).sum().backward(), RuntimeError),
    "no gradient for several numbers": (lambda: (leaf() * 1).backward(), RuntimeError),
    "complex without a gradient": (
        lambda: (leaf(dtype=taeda.complex64) * 1).sum().backward(), RuntimeError),
    "another shape": (lambda: (leaf() * 1).backward(taeda.ones(3)), RuntimeError),
    "a complex gradient of a real output": (
        lambda: (leaf() * 1).backward(taeda.ones(2, dtype=taeda.complex64)), RuntimeError),
    "an unused input": (lambda: autograd.grad(leaf().sum(), leaf()), RuntimeError),
    "zeros that may not be": (
        lambda: autograd.grad(leaf().sum(), leaf(), allow_unused=False, materialize_grads=True), ValueError),
    "a leaf written": (lambda: leaf().add_(1), RuntimeError),
    "a view of a leaf written": (lambda: leaf()[:1].add_(1), RuntimeError),
    "one of several views written": (lambda: (leaf() * 1).unbind()[0].add_(1), RuntimeError),
    "an output switched off": (lambda: (leaf() * 1).requires_grad_(False), RuntimeError),
    "integers": (lambda: taeda.ones(2, dtype=taeda.int64).requires_grad_(), RuntimeError),
    "out= with a graph": (lambda: taeda.add(leaf(), 1, out=taeda.empty(2)), RuntimeError),
    "a gradient of another shape": (lambda: assigned(taeda.ones(3)), RuntimeError),
    "a gradient of another dtype": (lambda: assigned(taeda.ones(2).double()), RuntimeError),
    "a leaf as its gradient": (lambda: assigned(None), RuntimeError),
    "a number as gradient": (lambda: assigned(5), TypeError),
    "a hook of no graph": (lambda: taeda.ones(2).register_hook(print), RuntimeError),
    "a hook of leaves": (
        lambda: (leaf() * 1).register_post_accumulate_grad_hook(print), RuntimeError),
    "a hook that gives a number": (lambda: walked(lambda g: 5), TypeError),
    "a hook that gives another shape": (lambda: walked(lambda g: taeda.ones(3)), RuntimeError),
    "a tangent of another shape": (lambda: dual(taeda.ones(2), taeda.ones(3)), RuntimeError),
    "integers as primal": (lambda: dual(taeda.tensor([1]), taeda.tensor([1])), ValueError),
    "gradcheck of no graph": (lambda: autograd.gradcheck(taeda.sin, (taeda.ones(2),)), ValueError),
    "gradcheck of one memory": (
        lambda: autograd.gradcheck(taeda.sin, (taeda.ones(1).double().expand(3).requires_grad_(),)),
        RuntimeError),
    "checkpoint with unknown words": (
        lambda: checkpoint(taeda.sin, leaf(), use_reentrant=True, unknown=1), ValueError),
    "checkpoint with contexts": (
        lambda: checkpoint(taeda.sin, leaf(), use_reentrant=True, context_fn=lambda: (1, 2)), ValueError),
}  # fmt: skip
FUNC = {
    "in_dims of another form": (lambda: func.vmap(lambda a: a, in_dims=(0, 0))(X), ValueError),
    "a dimension too far": (lambda: func.vmap(lambda a: a, in_dims=5)(X), ValueError),
    "two sizes": (lambda: func.vmap(lambda a, b: a)(X, taeda.ones(4)), ValueError),
    "a number out": (lambda: func.vmap(lambda a: 5)(X), ValueError),
    "no chunk": (lambda: func.vmap(lambda a: a, chunk_size=0)(X), ValueError),
    "nothing mapped": (lambda: func.vmap(lambda a: a, in_dims=None)(X), ValueError),
    "unknown randomness": (lambda: func.vmap(lambda a: a, randomness="some")(X), RuntimeError),
    "random numbers": (lambda: func.vmap(lambda a: taeda.rand(2) + a)(X), RuntimeError),
    "a value": (lambda: func.vmap(lambda a: a.sum().item())(X), RuntimeError),
    "a branch": (lambda: func.vmap(lambda a: a if a.sum() > 0 else -a)(X), RuntimeError),
    "a mask": (lambda: func.vmap(lambda a: a[a > 0])(X), RuntimeError),
    "places": (lambda: func.vmap(lambda a: a.nonzero())(X), RuntimeError),
    "several numbers": (lambda: func.grad(lambda a: a)(X), RuntimeError),
    "one number in a list": (lambda: func.grad(lambda a: a.sum().reshape(1))(X), RuntimeError),
    "an input written": (lambda: func.grad(lambda a: a.add_(1).sum())(X), RuntimeError),
    "missing names": (
        lambda: func.functional_call(nn.Linear(2, 2), {"weight": X[:2]}, (X,), strict=True), RuntimeError),
}  # fmt: skip
NN = {
    "rank of batch norm": (lambda: nn.BatchNorm2d(3)(taeda.ones(3, 4, 4)), ValueError),
    "one value a channel": (lambda: nn.BatchNorm1d(3)(taeda.ones(1, 3)), ValueError),
    "same with strides": (lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"), ValueError),
    "groups": (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError),
    "channels": (lambda: F.conv2d(IMAGE, taeda.ones(2, 5, 1, 1)), RuntimeError),
    "a kernel too large": (lambda: F.conv2d(IMAGE, taeda.ones(2, 3, 9, 9)), RuntimeError),
    "padding beyond half": (lambda: nn.MaxPool2d(2, padding=2)(IMAGE), RuntimeError),
    "probability": (lambda: nn.Dropout(2), ValueError),
    "bce beyond 1": (lambda: F.binary_cross_entropy(taeda.ones(2) * 2, taeda.ones(2)), RuntimeError),
    "bce of two sizes": (lambda: F.binary_cross_entropy(taeda.ones(2), taeda.ones(3)), ValueError),
    "a class that is not there": (lambda: F.nll_loss(X, taeda.tensor([0, 1, 7])), IndexError),
    "classes in 32 bits": (lambda: F.nll_loss(X, taeda.zeros(3, dtype=taeda.int32)), RuntimeError),
    "a negative beta": (lambda: F.smooth_l1_loss(X, X, beta=-1), RuntimeError),
    "unknown reduction": (lambda: F.mse_loss(X, X, reduction="most"), ValueError),
    "hidden size": (
        lambda: nn.LSTM(2, 3)(taeda.ones(5, 1, 2), (taeda.ones(1, 1, 4), taeda.ones(1, 1, 4))), RuntimeError),
    "a length of 0": (lambda: rnn.pack_padded_sequence(taeda.ones(3, 1, 2), [0]), RuntimeError),
    "lengths that rise": (lambda: rnn.pack_padded_sequence(taeda.ones(3, 2, 2), [1, 3]), RuntimeError),
    "total_length": (
        lambda: rnn.pad_packed_sequence(rnn.pack_padded_sequence(taeda.ones(3, 1, 2), [3]), total_length=2),
        ValueError),
    "corners of nearest": (
        lambda: F.interpolate(IMAGE, size=3, mode="nearest", align_corners=True), ValueError),
    "unknown interpolation": (lambda: F.interpolate(IMAGE, size=3, mode="other"), NotImplementedError),
    "an embedding that is not there": (lambda: F.embedding(taeda.tensor([9]), X), IndexError),
    "a bag of it": (lambda: F.embedding_bag(taeda.tensor([9]), X, taeda.tensor([0])), RuntimeError),
    "heads": (lambda: nn.MultiheadAttention(5, 2), AssertionError),
    "fans of a vector": (lambda: nn.init.xavier_uniform_(taeda.ones(3)), ValueError),
    "a gain in words": (lambda: nn.init.calculate_gain("leaky_relu", "much"), ValueError),
    "a name with a dot": (lambda: nn.Module().register_parameter("a.b", parameter()), KeyError),
    "no module": (lambda: nn.Module().add_module("x", 5), TypeError),
    "a state with gaps": (lambda: nn.Linear(2, 2).load_state_dict({"weight": X[:2]}), RuntimeError),
}  # fmt: skip
OPTIM = {
    "in two groups": (
        lambda: (lambda p: optim.SGD([{"params": [p]}, {"params": [p]}]))(parameter()), ValueError),
    "a bare tensor": (lambda: optim.SGD(parameter()), TypeError),
    "nothing": (lambda: optim.SGD([]), ValueError),
    "no leaf": (lambda: optim.SGD([parameter() * 1]), ValueError),
    "a set": (lambda: optim.SGD([{"params": {parameter()}}]), TypeError),
    "names of some": (lambda: optim.SGD([("a", parameter()), parameter()]), ValueError),
    "a negative rate": (lambda: optim.SGD([parameter()], lr=-1), ValueError),
    "betas": (lambda: optim.Adam([parameter()], betas=(1.0, 0.9)), ValueError),
    "nesterov alone": (lambda: optim.SGD([parameter()], nesterov=True), ValueError),
    "two rates": (lambda: optim.Adam([parameter()], lr=taeda.ones(2)), ValueError),
    "a rate of each": (lambda: optim.Adam([parameter()], lr=taeda.tensor(0.1), foreach=True), ValueError),
    "foreach and fused": (lambda: optim.SGD([parameter()], foreach=True, fused=True), RuntimeError),
    "no closure": (lambda: optim.LBFGS([parameter()]).step(), TypeError),
    "dense gradients": (lambda: stepped(lambda p: optim.SparseAdam([p]), taeda.ones(2)), RuntimeError),
    "sparse gradients": (lambda: stepped(lambda p: optim.Adam([p]), taeda.ones(2).to_sparse()), RuntimeError),
    "capturable": (
        lambda: stepped(lambda p: optim.Adam([p], capturable=True), taeda.ones(2)), AssertionError),
    "another state": (
        lambda: optim.SGD([parameter()]).load_state_dict({"state": {}, "param_groups": []}), ValueError),
    "no initial rate": (lambda: rates.StepLR(optim.SGD([parameter()]), 1, last_epoch=3), KeyError),
    "no momentum to cycle": (lambda: rates.CyclicLR(optim.Adagrad([parameter()]), 0.1, 0.2), ValueError),
    "two averages": (
        lambda: AveragedModel(nn.Linear(1, 1), avg_fn=print, multi_avg_fn=print), AssertionError),
}  # fmt: skip
AMP = {
    "unknown device": (lambda: taeda.autocast("abacus"), RuntimeError),
    "no name": (lambda: taeda.autocast(5), ValueError),
    "unscaled twice": (lambda: scaled(twice("unscale_")), RuntimeError),
    "stepped twice": (lambda: scaled(twice("step")), RuntimeError),
    "a closure": (lambda: scaled(lambda s, o: s.step(o, closure=print)), RuntimeError),
    "updated at once": (lambda: amp.GradScaler("cpu").update(), AssertionError),
    "stepped at once": (lambda: amp.GradScaler("cpu").step(optim.SGD([parameter()])), AssertionError),
    "an empty state": (lambda: amp.GradScaler("cpu").load_state_dict({}), RuntimeError),
}  # fmt: skip
DATA = {
    "workers": (lambda: data.DataLoader(TEN, num_workers=-1), ValueError),
    "timeout": (lambda: data.DataLoader(TEN, timeout=-1), ValueError),
    "prefetch without workers": (lambda: data.DataLoader(TEN, prefetch_factor=2), ValueError),
    "persistent without workers": (lambda: data.DataLoader(TEN, persistent_workers=True), ValueError),
    "batches and a size": (lambda: data.DataLoader(TEN, batch_sampler=[[1]], batch_size=3), ValueError),
    "sampler and shuffle": (lambda: data.DataLoader(TEN, sampler=[1], shuffle=True), ValueError),
    "no batches to drop": (lambda: data.DataLoader(TEN, batch_size=None, drop_last=True), ValueError),
    "a shuffled stream": (lambda: data.DataLoader(Stream(), shuffle=True), ValueError),
    "a sampled stream": (lambda: data.DataLoader(Stream(), sampler=[1]), ValueError),
    "a stream's length": (lambda: len(data.DataLoader(Stream())), TypeError),
    "no samples": (lambda: data.RandomSampler(TEN, num_samples=0), ValueError),
    "parts": (lambda: data.random_split(TEN, [3, 3]), ValueError),
    "an object": (lambda: data.default_collate([object()]), TypeError),
    "two shapes": (lambda: data.default_collate([taeda.ones(2), taeda.ones(3)]), RuntimeError),
    "no sets": (lambda: data.ConcatDataset([]), AssertionError),
    "two lengths": (lambda: data.TensorDataset(taeda.ones(2), taeda.ones(3)), AssertionError),
    "beyond the end": (lambda: data.ConcatDataset([TEN, TEN])[99], IndexError),
}  # fmt: skip
TABLES = {"autograd": AUTOGRAD, "func": FUNC, "nn": NN, "optim": OPTIM, "amp": AMP, "data": DATA}
ROWS = [(part, name) for part, table in TABLES.items() for name in table]


@pytest.mark.parametrize(("part", "name"), ROWS, ids=lambda word: word.replace(" ", "-"))
@pytest.mark.filterwarnings("ignore")
def test_bad_input_meets_what_is_documented(part, name):
    call, error = TABLES[part][name]
    with pytest.raises(error) as told:
        call()
    assert str(told.value)


def test_a_scaler_skips_a_step_with_infinities():
    one, scaler = parameter(), amp.GradScaler("cpu")
    optimizer = optim.SGD([one], lr=1.0)
    scaler.scale(one.sum()).backward()
    one.grad[0] = math.inf
    scaler.step(optimizer)
    scaler.update()
    assert one.tolist() == [1.0, 1.0] and scaler.get_scale() == 32768


def test_dropout_is_recomputed_with_the_numbers_of_the_first_run():
    layer, x = nn.Dropout(0.5), leaf(1000)
    y = checkpoint(lambda a: layer(a) * 2, x, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist() and 0 < (y == 0).sum() < 1000


def test_memory_that_was_exchanged_since_it_was_saved_is_noticed():
    for versions in range(3):
        factor, x = taeda.ones(2), leaf()
        for _ in range(versions):
            factor.add_(0)
        y = x * factor
        factor.set_(taeda.zeros(2))
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            y.sum().backward()
