"""Checks with the packages that stand beside taeda in a program, the real ones; each in a process of its own.

    python tools/try/neighbours.py              # all that are installed
    python tools/try/neighbours.py pandas e3nn  # some

A check whose package is not installed is named, and fails with `--strict`.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKS: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {}


def check(*packages: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A check that needs these packages."""

    def add(function: Callable[[], None]) -> Callable[[], None]:
        CHECKS[function.__name__] = (function, packages)
        return function

    return add


# ---- taeda under its own name ----


@check("einops")
def einops() -> None:
    import einops

    import taeda

    x = taeda.randn(2, 3, 4, dtype=taeda.float64, requires_grad=True)
    assert taeda.equal(einops.rearrange(x, "a b c -> c (a b)"), x.permute(2, 0, 1).reshape(4, 6))
    for name, wanted in (
        *(("min", x.amin((0, 2))), ("max", x.amax((0, 2))), ("sum", x.sum((0, 2)))),
        *(("mean", x.mean((0, 2))), ("prod", x.prod(2).prod(0))),
    ):
        assert taeda.allclose(einops.reduce(x, "a b c -> b", name), wanted), name
    assert einops.repeat(x, "a b c -> a (b r) c", r=2).shape == (2, 6, 4)
    assert einops.einsum(x, x, "a b c, a d c -> b d").shape == (3, 3)
    packed, shapes = einops.pack([x, x[:, 0]], "a * c")
    assert taeda.equal(einops.unpack(packed, shapes, "a * c")[1], x[:, 0])
    einops.reduce(x, "a b c -> ", "sum").backward()
    assert x.grad is not None and bool((x.grad == 1).all())


@check("einops")
def einops_first() -> None:
    import einops

    import taeda

    assert einops.rearrange(taeda.ones(2, 3), "a b -> b a").shape == (3, 2)


@check("jaxtyping", "beartype")
def jaxtyping() -> None:
    from beartype import beartype
    from jaxtyping import Float, TypeCheckError, jaxtyped

    import taeda

    def product(a: Any, b: Any) -> Any:
        return a @ b

    kind = taeda.Tensor
    product.__annotations__ = {
        "a": Float[kind, "n k"],
        "b": Float[kind, "k m"],
        "return": Float[kind, "n m"],
    }
    product = jaxtyped(typechecker=beartype)(product)
    assert product(taeda.ones(2, 3), taeda.ones(3, 4)).shape == (2, 4)
    for wrong in (taeda.ones(2, 4), taeda.ones(3, 4, dtype=taeda.int64)):
        try:
            product(taeda.ones(2, 3), wrong)
        except TypeCheckError:
            continue
        raise AssertionError(f"{wrong.shape} {wrong.dtype} was accepted")


@check("safetensors")
def safetensors() -> None:
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    import taeda

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.safetensors"
        taeda.save({"w": taeda.arange(6.0).reshape(2, 3)}, path)
        assert load_file(path)["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
        with safe_open(path, "numpy") as file:
            assert file.get_slice("w")[1:].tolist() == [[3, 4, 5]]
        save_file({"v": taeda.ones(2).numpy()}, path)
        assert taeda.load(path)["v"].tolist() == [1, 1]


@check("array_api_compat", "array_api_strict")
def array_api_compat() -> None:
    import array_api_compat as compat

    import taeda

    x = taeda.ones(2, 3)
    xp = compat.array_namespace(x, taeda.zeros(1))
    assert xp is taeda.array_api and compat.is_array_api_obj(x)
    assert (compat.size(x), compat.device(x)) == (6, taeda.device("cpu"))
    assert xp.sum(compat.to_device(x, "cpu"), axis=1, keepdims=True).tolist() == [[3], [3]]
    _newest_array_api(xp, taeda)
    assert x.__array_namespace__(api_version="2025.12") is xp
    strict = importlib.import_module("array_api_strict")
    strict.set_array_api_strict_flags(api_version="2025.12")
    its_own = {name for name in strict.__all__ if "flags" in name.lower()} | {"__version__"}
    assert {name for name in strict.__all__ if not hasattr(xp, name)} <= its_own
    for part in ("linalg", "fft"):
        theirs = getattr(strict, part).__all__
        assert [name for name in theirs if not hasattr(getattr(xp, part), name)] == [], part


@check("array_api_compat")
def array_api_compat_torch() -> None:
    import array_api_compat as compat

    import taeda

    taeda.install_as_torch()
    xp = importlib.import_module("array_api_compat.torch")
    assert xp.isdtype(taeda.float32, "real floating") and compat.is_torch_array(taeda.ones(1))
    _newest_array_api(xp, taeda)


def _newest_array_api(xp: Any, taeda: Any) -> None:
    """What the version 2025.12 of the standard adds, and what it says of itself."""
    assert xp.__array_api_version__ == "2025.12"
    about = xp.__array_namespace_info__()
    assert isinstance(about.devices(), tuple) and taeda.device("cpu") in about.devices()
    assert about.default_dtypes()["real floating"] == taeda.float32
    assert {"boolean indexing", "data-dependent shapes"} <= set(about.capabilities())
    assert "complex128" in about.dtypes(kind="complex floating")
    x = taeda.arange(6).reshape(2, 3)
    assert xp.isin(x, taeda.tensor([1, 4]), invert=True).tolist() == [[1, 0, 1], [1, 0, 1]]
    assert xp.isin(x, 2).sum().item() == 1
    assert tuple(xp.broadcast_shapes((2, 1), (3,))) == (2, 3)
    assert isinstance(xp.broadcast_arrays(x, x[0]), tuple)
    assert isinstance(xp.meshgrid(x[0], x[0]), tuple)
    assert int(xp.searchsorted(taeda.arange(5.0), 2.5)) == 3
    assert xp.expand_dims(x, axis=(0, 2)).shape == (1, 2, 1, 3)
    values, vectors = xp.linalg.eig(taeda.tensor([[0.0, -1.0], [1.0, 0.0]]))
    assert values.dtype == taeda.complex64 and vectors.shape == (2, 2)
    assert sorted(xp.linalg.eigvals(taeda.tensor([[0.0, -1.0], [1.0, 0.0]])).imag.tolist()) == [
        -1,
        1,
    ]


@check("sklearn")
def scikit_learn_arrays() -> None:
    import os

    os.environ["SCIPY_ARRAY_API"] = "1"
    import sklearn
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    import taeda

    x = taeda.randn(20, 3, dtype=taeda.float64)
    with sklearn.config_context(array_api_dispatch=True):
        for scaler in (MinMaxScaler(), StandardScaler()):
            made = scaler.fit_transform(x)
            assert isinstance(made, taeda.Tensor), type(scaler)
    assert abs(made.mean().item()) < 1e-9


@check("pandas")
def pandas() -> None:
    import pandas as pd

    import taeda

    frame = pd.DataFrame({"a": taeda.arange(3), "b": taeda.ones(3)})
    assert frame.dtypes.astype(str).tolist() == ["int64", "float32"]
    assert taeda.tensor(frame["b"].to_numpy()).tolist() == [1, 1, 1]
    assert taeda.tensor(frame.to_numpy()).shape == (3, 2)
    assert pd.Series(taeda.tensor([1.5, 2.5])).mean() == 2
    assert taeda.tensor([*frame["a"]]).dtype == taeda.int64


@check("matplotlib")
def matplotlib() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    import taeda

    figure, axes = plt.subplots()
    x = taeda.linspace(0, 1, 5)
    (line,) = axes.plot(x, x**2)
    assert line.get_ydata().tolist() == (x**2).tolist()
    axes.imshow(taeda.rand(4, 4))
    axes.hist(taeda.randn(50))
    axes.scatter(x, x, c=x)
    w = x.clone().requires_grad_()
    (line,) = axes.plot(w, w * 2)
    assert line.get_ydata(orig=False).tolist() == (w * 2).tolist()
    axes.scatter(w, w + 1)
    figure.savefig(io.BytesIO())


@check("PIL")
def pillow() -> None:
    import numpy as np
    from PIL import Image

    import taeda

    picture = Image.fromarray((taeda.rand(4, 5, 3) * 255).to(taeda.uint8).numpy())
    assert picture.size == (5, 4)
    assert taeda.as_tensor(np.asarray(picture)).shape == (4, 5, 3)


@check("sklearn")
def scikit_learn() -> None:
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import accuracy_score, roc_auc_score
    from sklearn.model_selection import train_test_split

    import taeda

    x, y = taeda.randn(40, 2), taeda.arange(40) % 2
    first, _, labels, _ = train_test_split(x, y, test_size=0.25)
    assert len(first) == len(labels) == 30
    model = LinearRegression().fit(x, x @ taeda.tensor([1.0, 2.0]))
    assert abs(model.coef_ - [1, 2]).max() < 1e-4
    assert accuracy_score(y, y) == roc_auc_score(y, y.float()) == 1


@check("tokenizers")
def tokenizers() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    import taeda

    words = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    assert taeda.tensor([words.encode("a b c").ids]).tolist() == [[0, 1, 2]]
    assert words.decode(taeda.tensor([0, 1]).tolist()) == "a b"


@check("cloudpickle")
def cloudpickle() -> None:
    import cloudpickle

    import taeda
    from taeda import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.layer(x) * factor

    factor = taeda.tensor(2.0)
    net = Net()
    again = cloudpickle.loads(cloudpickle.dumps(net))
    assert taeda.equal(again(taeda.ones(1, 2)), net(taeda.ones(1, 2)))


@check("fsspec")
def fsspec() -> None:
    import fsspec

    import taeda

    with fsspec.open("memory://w.safetensors", "wb") as file:
        taeda.save({"w": taeda.ones(2)}, file)
    with fsspec.open("memory://w.safetensors", "rb") as file:
        assert taeda.load(file)["w"].tolist() == [1, 1]


# ---- under torch's name ----


def _torch() -> Any:
    import taeda

    taeda.install_as_torch()
    import torch

    return torch


@check()
def as_torch() -> None:
    import importlib.metadata

    torch = _torch()
    import torch.nn.functional as F
    from torch.utils.data import DataLoader

    import taeda

    assert torch.nn is taeda.nn and DataLoader is taeda.utils.data.DataLoader
    assert F is taeda.nn.functional and taeda.nn.__spec__.name == "taeda.nn"
    assert importlib.metadata.version("torch") == torch.__version__ == "2.13.0+taeda"
    assert not torch.distributed.is_available()
    assert importlib.util.find_spec("torch.package") is None
    torch.marked = 1
    assert taeda.marked == 1  # type: ignore[attr-defined]


@check("einops")
def einops_layers() -> None:
    torch = _torch()
    from einops.layers.torch import EinMix, Rearrange, Reduce

    net = torch.nn.Sequential(
        Rearrange("b c h w -> b h w c"),
        EinMix("b h w c -> b h w d", weight_shape="c d", c=3, d=5),
        Reduce("b h w d -> b d", "mean"),
    )
    assert net(torch.randn(2, 3, 4, 4)).shape == (2, 5)


@check("safetensors")
def safetensors_torch() -> None:
    torch = _torch()
    import safetensors.torch as st

    with tempfile.TemporaryDirectory() as folder:
        model = torch.nn.Linear(2, 2)
        st.save_model(model, f"{folder}/m.safetensors")
        other = torch.nn.Linear(2, 2)
        assert st.load_model(other, f"{folder}/m.safetensors") == (set(), [])
        assert torch.equal(model.weight, other.weight)
    data = st.save({"a": torch.ones(2, dtype=torch.bfloat16)})
    assert st.load(data)["a"].dtype == torch.bfloat16


@check("transformers")
def transformers() -> None:
    torch = _torch()
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        LlamaConfig,
        LlamaForCausalLM,
    )

    small = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    llama = LlamaForCausalLM(LlamaConfig(**small, num_attention_heads=4, num_key_value_heads=2))
    x = torch.randint(0, 50, (2, 7))
    llama(input_ids=x, labels=x).loss.backward()
    assert all(p.grad is not None for p in llama.parameters())
    assert llama.generate(x, max_new_tokens=4, do_sample=False).shape == (2, 11)
    bert = BertForSequenceClassification(BertConfig(**small, num_attention_heads=4, num_labels=3))
    bert(input_ids=x, labels=torch.tensor([0, 2])).loss.backward()
    with tempfile.TemporaryDirectory() as folder:
        bert.eval().save_pretrained(folder)
        again = BertForSequenceClassification.from_pretrained(folder)
        assert torch.equal(again(x).logits, bert(x).logits)


@check("torchmetrics")
def torchmetrics() -> None:
    torch = _torch()
    import torchmetrics as tm

    guess, truth = torch.tensor([0, 2, 1]), torch.tensor([0, 2, 2])
    assert (
        abs(tm.Accuracy(task="multiclass", num_classes=3, average="micro")(guess, truth) - 2 / 3)
        < 1e-6
    )
    assert tm.MeanSquaredError()(torch.ones(3), torch.zeros(3)) == 1
    assert tm.AUROC(task="binary")(torch.tensor([0.1, 0.8]), torch.tensor([0, 1])) == 1


@check("e3nn")
def e3nn() -> None:
    torch = _torch()
    from e3nn import o3

    irreps = o3.Irreps("2x0e+1x1o")
    x = irreps.randn(4, -1).requires_grad_()
    o3.FullyConnectedTensorProduct(irreps, irreps, irreps)(
        x, o3.Linear(irreps, irreps)(x)
    ).sum().backward()
    assert x.grad.shape == x.shape
    turn = o3.rand_matrix()
    points = torch.randn(5, 3)
    turned = o3.spherical_harmonics(2, points @ turn.T, True)
    there = o3.spherical_harmonics(2, points, True) @ o3.Irrep("2e").D_from_matrix(turn).T
    assert torch.allclose(turned, there, atol=1e-4)


def _task(torch: Any) -> tuple[Any, Any, Any]:
    """A small classifier, its optimizer, its batches."""
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    x = torch.randn(32, 4, generator=torch.Generator().manual_seed(0))
    batches = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=8)
    return model, torch.optim.Adam(model.parameters(), lr=0.05), batches


@check("accelerate")
def accelerate() -> None:
    torch = _torch()
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer, batches = _task(torch)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 8)
    model, optimizer, batches, schedule = accelerator.prepare(model, optimizer, batches, schedule)
    losses = []
    for _ in range(8):
        for x, y in batches:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss).mean().item())
    assert losses[-1] < losses[0] / 2
    with tempfile.TemporaryDirectory() as folder:
        before = {name: value.clone() for name, value in model.state_dict().items()}
        accelerator.save_state(folder)
        model[0].weight.data.zero_()
        accelerator.load_state(folder)
        assert torch.equal(model[0].weight, before["0.weight"])


@check("lightning")
def lightning() -> None:
    torch = _torch()
    import lightning as L

    class Net(L.LightningModule):
        def __init__(self, rate: float = 0.05) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.net = _task(torch)[0]

        def training_step(self, batch: Any, number: int) -> Any:
            loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch: Any, number: int) -> None:
            self.log("right", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.rate)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 4)]

    batches = _task(torch)[2]
    with tempfile.TemporaryDirectory() as folder:
        quiet = {
            "accelerator": "cpu",
            "logger": False,
            "enable_progress_bar": False,
            "enable_model_summary": True,
        }
        for precision, profiler in (("32-true", "pytorch"), ("bf16-mixed", None)):
            trainer = L.Trainer(
                max_epochs=8,
                default_root_dir=folder,
                precision=precision,
                profiler=profiler,
                **quiet,
            )
            trainer.fit(Net(), batches, batches)
            assert trainer.callback_metrics["right"] > 0.8
        path = trainer.checkpoint_callback.best_model_path
        again = Net.load_from_checkpoint(path)
        assert trainer.validate(again, batches, verbose=False)[0]["right"] > 0.8


@check("torchvision")
def torchvision() -> None:
    torch = _torch()
    import numpy as np
    import torchvision as tv
    from PIL import Image
    from torchvision.transforms import v2

    picture = Image.fromarray(np.arange(40 * 50 * 3, dtype=np.uint8).reshape(40, 50, 3))
    half = [0.5] * 3
    old = tv.transforms.Compose([
        tv.transforms.Resize(32), tv.transforms.RandomCrop(28), tv.transforms.ColorJitter(0.2),
        tv.transforms.ToTensor(),
        tv.transforms.Normalize(half, half),
    ])  # fmt: skip
    new = v2.Compose([
        v2.ToImage(), v2.RandomResizedCrop(28), v2.RandomHorizontalFlip(),
        v2.ToDtype(torch.float32, scale=True), v2.Normalize(half, half),
    ])  # fmt: skip
    assert old(picture).shape == new(picture).shape == (3, 28, 28)
    for name in ("resnet18", "mobilenet_v3_small", "shufflenet_v2_x0_5"):
        model = tv.models.get_model(name, weights=None, num_classes=3)
        model(torch.randn(2, 3, 64, 64)).sum().backward()
        assert all(p.grad is not None for p in model.parameters()), name
    assert tv.utils.make_grid(torch.rand(4, 3, 8, 8)).shape == (3, 12, 42)
    boxes = torch.tensor([[0.0, 0, 2, 2]])
    assert abs(tv.ops.box_iou(boxes, boxes + 1).item() - 1 / 7) < 1e-6
    data = tv.datasets.FakeData(4, (3, 8, 8), 10, transform=tv.transforms.ToTensor())
    assert next(iter(torch.utils.data.DataLoader(data, 4)))[0].shape == (4, 3, 8, 8)


@check("torchvision")
def torchvision_detection() -> None:
    torch = _torch()
    from torchvision.models import detection
    from torchvision.ops import batched_nms

    boxes = torch.tensor([[5.0, 5, 40, 50], [5, 5, 40, 49], [20, 10, 60, 70]])
    kinds = torch.tensor([0, 0, 1])
    assert batched_nms(boxes, torch.tensor([0.5, 0.9, 0.1]), kinds, 0.5).tolist() == [1, 2]
    pictures = [torch.rand(3, 64, 80), torch.rand(3, 60, 64)]
    targets = [{"boxes": boxes[1:], "labels": kinds[1:] + 1} for _ in pictures]
    options = {"weights": None, "weights_backbone": None, "num_classes": 3}
    for model in (
        detection.fasterrcnn_mobilenet_v3_large_320_fpn(**options, min_size=64, max_size=80),
        detection.ssdlite320_mobilenet_v3_large(**options),
    ):
        losses = model(pictures, targets)
        assert all(bool(loss.isfinite()) for loss in losses.values())
        sum(losses.values()).backward()
        assert any(bool(p.grad.any()) for p in model.parameters() if p.grad is not None)
        found = model.eval()(pictures)
        assert [len(one["boxes"]) == len(one["scores"]) for one in found] == [True, True]


@check("timm", "torchvision")
def timm() -> None:
    torch = _torch()
    import timm

    for name, size in (("resnet18", 64), ("vit_tiny_patch16_224", 224), ("convnext_atto", 64)):
        model = timm.create_model(name, pretrained=False, num_classes=3)
        model(torch.randn(2, 3, size, size)).sum().backward()
        assert all(p.grad is not None for p in model.parameters()), name
        # weights load by name, as timm gives them out
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model.state_dict(), f"{folder}/weights.pth")
            again = timm.create_model(
                name, num_classes=3, checkpoint_path=f"{folder}/weights.pth"
            ).eval()
        x = torch.randn(1, 3, size, size)
        assert torch.equal(again(x), model.eval()(x)), name


@check("transformers", "accelerate")
def transformers_trainer() -> None:
    torch = _torch()
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

    small = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    model = LlamaForCausalLM(LlamaConfig(**small, num_attention_heads=4))
    rows = [torch.arange(start, start + 8) for start in range(16)]
    data = [{"input_ids": row, "labels": row} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            folder,
            num_train_epochs=4,
            per_device_train_batch_size=4,
            use_cpu=True,
            report_to=[],
            save_steps=5,
            learning_rate=0.01,
        )
        trainer = Trainer(model, options, train_dataset=data)
        before = trainer.evaluate(data)["eval_loss"]
        trainer.train()
        after = trainer.evaluate(data)["eval_loss"]
        assert after < before - 0.3
        again = LlamaForCausalLM(LlamaConfig(**small, num_attention_heads=4))
        resumed = Trainer(again, options, train_dataset=data)
        resumed.train(resume_from_checkpoint=f"{folder}/checkpoint-5")
        assert resumed.evaluate(data)["eval_loss"] == after
        kept = torch.load(f"{folder}/checkpoint-5/training_args.bin")
        assert (type(kept), kept.save_steps) == (TrainingArguments, 5)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checks", nargs="*", help=", ".join(CHECKS))
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    if unknown := set(options.checks) - set(CHECKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    failed = 0
    for name in options.checks or CHECKS:
        function, packages = CHECKS[name]
        if options.here:
            function()
            continue
        missing = [p for p in packages if importlib.util.find_spec(p) is None]
        if missing:
            print(f"{name:20} not installed: {', '.join(missing)}")
            failed += options.strict
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--here", name]
        done = subprocess.run(command, capture_output=True, text=True)
        failed += bool(done.returncode)
        print(f"{name:20} {'failed' if done.returncode else 'ok'}", flush=True)
        if done.returncode:
            print(done.stderr[-3000:])
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
