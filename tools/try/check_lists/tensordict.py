"""tensordict: dictionaries of tensors, modules of them, memory maps, vmap."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from tensordict import MemoryMappedTensor, TensorDict, TensorDictParams, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential

from .given import filled, gradients, normal


@tensorclass
class Sample:
    x: torch.Tensor
    y: torch.Tensor


def _made() -> Any:
    return TensorDict({"a": normal(3, 2), "b": {"c": normal(3, 4)}}, batch_size=[3])


def changes() -> Any:
    made = _made()
    many = [
        made.reshape(1, 3),
        made[1:],
        made.unsqueeze(0),
        torch.stack([made, made]),
        torch.cat([made, made], 0),
        made.apply(torch.exp),
    ]
    many += [
        made + 1,
        made.clone().zero_(),
        made.to(torch.float64),
        made.flatten_keys("."),
        made.select("a"),
        made.exclude("a"),
    ]
    many += [
        made.gather(0, torch.tensor([2, 0])),
        made.expand(2, 3),
        made.split(2)[0],
        TensorDict.maybe_dense_stack([made, made]),
    ]
    assert [tuple(one.batch_size) for one in many[:4]] == [(1, 3), (2,), (1, 3), (2, 3)]
    return [list(one.values(True, True)) for one in many]


def modules() -> Any:
    first = TensorDictModule(filled(torch.nn.Linear(2, 5)), ["a"], ["h"])
    last = TensorDictModule(filled(torch.nn.Linear(5, 1)), ["h"], [("out", "v")])
    chain = TensorDictSequential(first, last)
    out = chain(_made())
    out["out", "v"].sum().backward()
    kept = TensorDict.from_module(chain)
    with kept.data.apply(torch.zeros_like).to_module(chain):
        assert not chain(_made())["out", "v"].any()
    return [out["out", "v"], *gradients(chain)]


def classes_files_and_maps() -> None:
    sample = Sample(x=normal(4, 2), y=normal(4), batch_size=[4])
    assert type(sample[:2]) is Sample and sample[:2].batch_size == torch.Size([2])
    with tempfile.TemporaryDirectory() as folder:
        made = _made().memmap(folder)
        again = TensorDict.load_memmap(folder)
        assert (again == made).all() and isinstance(again["a"], MemoryMappedTensor)
        torch.save(_made().to_dict(), f"{folder}/d.pt")
        assert set(torch.load(f"{folder}/d.pt")) == {"a", "b"}


def under_vmap() -> Any:
    made = _made()
    summed = torch.vmap(lambda one: one["a"].sum() + one["b", "c"].sum())(made)
    net = filled(torch.nn.Linear(2, 1))
    several = [TensorDict.from_module(net).data.apply(lambda p, n=n: p * n) for n in (1.0, 2.0)]
    params = TensorDictParams(torch.stack(several), no_convert=True)

    def run(weights: Any, x: Any) -> Any:
        with weights.to_module(net):
            return net(x)

    out = torch.vmap(run, (0, None))(params, normal(4, 2))
    assert out.shape == (2, 4, 1)
    return [summed, out]


def under_vmap_gives_dictionaries() -> Any:
    made = _made()
    doubled = torch.vmap(lambda one: one * 2)(made)
    assert isinstance(doubled, TensorDict) and doubled.batch_size == torch.Size([3])
    return list(doubled.values(True, True))
