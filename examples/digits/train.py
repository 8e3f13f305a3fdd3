"""A small convolutional network learns the handwritten digits that come with scikit-learn.

1,797 real images of 8 x 8 pixels. A stratified fifth is held out until the end, a tenth of the rest shows the
progress. Writes a checkpoint and two pictures to --out, checks that the checkpoint read back predicts the
same, and ends with the accuracy on the held-out fifth. With --log it also writes what TensorBoard shows,
and a profile of the first epoch for Perfetto.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.utils.data import DataLoader, TensorDataset

mpl.use("Agg")  # draws into files; there may be no display
import matplotlib.pyplot as plt


class Net(nn.Module):
    """Three convolutions with batch norm, two poolings, one linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *block(1, 32),
            *block(32, 32),
            nn.MaxPool2d(2),
            *block(32, 64),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 2 * 2, 10))

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.head(self.features(x))


def block(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU()


def load() -> tuple[TensorDataset, TensorDataset, TensorDataset]:
    """Training, validation and held-out images with labels; the split never changes."""
    pixels, labels = load_digits(return_X_y=True)
    rest, test = train_test_split(
        range(len(labels)), test_size=0.2, stratify=labels, random_state=0
    )
    train, valid = train_test_split(rest, test_size=0.1, stratify=labels[rest], random_state=0)
    x = taeda.tensor(pixels, dtype=taeda.float32).reshape(-1, 1, 8, 8) / 16
    y = taeda.tensor(labels)
    first, second, third = (TensorDataset(x[part], y[part]) for part in (train, valid, test))
    return first, second, third


def shifted(x: taeda.Tensor) -> taeda.Tensor:
    """The batch moved by at most one pixel each way: the same digits, not the same pixels."""
    down, right = taeda.randint(0, 3, (2,)).tolist()
    return F.pad(x, (1, 1, 1, 1))[:, :, down : down + 8, right : right + 8]


def device_of(model: Net) -> taeda.device:
    return next(model.parameters()).device


def train_epoch(model: Net, loader: DataLoader, optimizer: taeda.optim.Optimizer) -> float:
    """One pass over the data. Return the mean loss."""
    device = device_of(model)
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(shifted(x).to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@taeda.no_grad()
def predict(model: Net, x: taeda.Tensor) -> taeda.Tensor:
    """The most likely digit of every image, on the cpu."""
    model.eval()
    return model(x.to(device_of(model))).argmax(dim=1).cpu()


def accuracy(model: Net, data: TensorDataset) -> float:
    x, y = data.tensors
    return (predict(model, x) == y).float().mean().item()


Watch = Callable[[int, float, float], None]


def nothing(epoch: int, loss: float, score: float) -> None:
    """Nobody watches."""


def train(
    model: Net, data: TensorDataset, valid: TensorDataset, epochs: int, watch: Watch = nothing
) -> list[tuple[float, float]]:
    """Train, showing the progress. Return loss and validation accuracy of every epoch."""
    loader = DataLoader(data, batch_size=64, shuffle=True)
    optimizer = taeda.optim.Adam(model.parameters(), lr=3e-3)
    schedule = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    history = []
    for epoch in (bar := tqdm(range(1, epochs + 1), desc="training", unit="epoch")):
        loss = train_epoch(model, loader, optimizer)
        schedule.step()
        history.append((loss, accuracy(model, valid)))
        watch(epoch, *history[-1])
        bar.write(f"epoch {epoch:2}  loss {loss:.4f}  validation accuracy {history[-1][1]:.4f}")
    return history


def log(folder: Path, model: Net, data: TensorDataset) -> Watch:
    """Write the graph and some images for TensorBoard, and a profile of the first epoch; return what
    writes after every epoch.
    """
    from taeda.profiler import profile, schedule, tensorboard_trace_handler
    from taeda.utils.tensorboard import SummaryWriter  # needs the package tensorboard

    writer = SummaryWriter(folder)
    first = schedule(wait=0, warmup=0, active=1, repeat=1)
    prof = profile(schedule=first, on_trace_ready=tensorboard_trace_handler(str(folder)))
    images = data.tensors[0][:32]
    writer.add_images("digits", images)
    writer.add_graph(model, images.to(device_of(model)))

    def watch(epoch: int, loss: float, score: float) -> None:
        prof.step()
        writer.add_scalar("loss/train", loss, epoch)
        writer.add_scalar("accuracy/validation", score, epoch)
        for name, weight in model.named_parameters():
            writer.add_histogram(f"weights/{name}", weight, epoch)

    prof.start()
    return watch


def reload(model: Net, path: Path) -> Net:
    """Save the model's state and return a new model that holds what was read back."""
    taeda.save(model.state_dict(), path)
    other = Net().to(device_of(model))
    other.load_state_dict(taeda.load(path))
    return other


def draw_history(history: list[tuple[float, float]], path: Path) -> None:
    epochs = range(1, len(history) + 1)
    losses, accuracies = zip(*history, strict=True)
    figure, left = plt.subplots(figsize=(7, 4), layout="constrained")
    left.plot(epochs, losses, color="tab:blue")
    left.set(xlabel="epoch", yscale="log")
    left.set_ylabel("training loss", color="tab:blue")
    right = left.twinx()
    right.plot(epochs, accuracies, color="tab:orange")
    right.set_ylabel("validation accuracy", color="tab:orange")
    left.set_title("Learning handwritten digits")
    figure.savefig(path, dpi=120)


def draw_mistakes(model: Net, data: TensorDataset, path: Path) -> int:
    """Draw the images whose prediction is wrong, and return how many there are."""
    x, y = data.tensors
    guess = predict(model, x)
    wrong = (guess != y).nonzero().flatten().tolist()
    columns = max(4, min(len(wrong), 8))
    rows = max(1, -(-len(wrong) // columns))
    figure, axes = plt.subplots(rows, columns, figsize=(1.5 * columns, 2 * rows), squeeze=False)
    for axis in axes.flat:
        axis.axis("off")
    for axis, index in zip(axes.flat, wrong, strict=False):
        axis.imshow(x[index, 0].numpy(), cmap="gray_r")
        axis.set_title(f"said {guess[index].item()}\nis {y[index].item()}", fontsize=9)
    figure.suptitle(f"{len(wrong)} of {len(y)} held-out digits misread")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return len(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description="A small network learns handwritten digits.")
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="folder for what is written"
    )
    parser.add_argument("--log", type=Path, help="folder for TensorBoard; nothing without it")
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="where the model lives: cpu, cuda, cuda:1")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    taeda.manual_seed(options.seed)

    data, valid, test = load()
    model = Net().to(options.device)
    print(f"{len(data)} digits to learn from, {len(valid)} to watch, {len(test)} held out")
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    start = time.perf_counter()
    watch = log(options.log, model, data) if options.log else nothing
    history = train(model, data, valid, options.epochs, watch)
    print(f"trained in {time.perf_counter() - start:.1f} s")

    checkpoint = options.out / "digits.safetensors"
    again = reload(model, checkpoint)
    images = test.tensors[0]
    if not taeda.equal(predict(model, images), predict(again, images)):
        raise SystemExit(f"{checkpoint}: the model read back predicts something else")
    print(f"{checkpoint}: read back, predicts the same")

    draw_history(history, options.out / "learning.png")
    misread = draw_mistakes(model, test, options.out / "mistakes.png")
    print(
        f"pictures: {options.out / 'learning.png'}, {options.out / 'mistakes.png'} ({misread} misread)"
    )
    print(f"test accuracy {accuracy(again, test):.4f}")


if __name__ == "__main__":
    main()
