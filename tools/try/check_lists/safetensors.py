"""safetensors: tensors and modules, of every dtype, in files."""

from __future__ import annotations

import tempfile

import safetensors
import safetensors.torch as st
import torch

from .given import normal


def tensors() -> None:
    kinds = [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int8,
        torch.int64,
        torch.bool,
        torch.uint8,
    ]
    kinds += [torch.float8_e4m3fn, torch.complex64]
    given = {str(n): (normal(3, 2) * 9).to(kind) for n, kind in enumerate(kinds)}
    with tempfile.TemporaryDirectory() as folder:
        st.save_file(given, f"{folder}/a.safetensors", metadata={"by": "me"})
        found = st.load_file(f"{folder}/a.safetensors")
        for name, value in given.items():
            assert found[name].dtype == value.dtype and torch.equal(
                found[name].view(torch.uint8), value.view(torch.uint8)
            )
        with safetensors.safe_open(f"{folder}/a.safetensors", "pt") as opened:
            assert opened.metadata() == {"by": "me"}
            assert torch.equal(opened.get_slice("0")[1:], given["0"][1:])
    assert torch.equal(st.load(st.save(given))["3"], given["3"])


def modules() -> None:
    net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    tied = torch.nn.Sequential(net, net)
    with tempfile.TemporaryDirectory() as folder:
        st.save_model(tied, f"{folder}/m.safetensors")
        assert st.load_model(torch.nn.Sequential(other, other), f"{folder}/m.safetensors") == (
            set(),
            [],
        )
    assert torch.equal(net.weight, other.weight)
