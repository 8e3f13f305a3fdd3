"""Import taeda as installed and train a few steps: what the `wheels` session runs in a clean environment."""

from __future__ import annotations

from pathlib import Path

import taeda
from taeda import nn
from taeda.utils.data import DataLoader, TensorDataset


def main() -> None:
    home = Path(taeda.__file__)
    assert "site-packages" in home.parts, f"{home} is not an installed copy"
    assert (home.parent / "include/taeda/abi.h").is_file(), "the header for extensions is missing"
    taeda.manual_seed(0)
    x = taeda.randn(256, 4)
    loader = DataLoader(TensorDataset(x, (x.sum(1, keepdim=True) > 0).float()), batch_size=32)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = taeda.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(5):
        for inputs, targets in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0], losses
    print(f"taeda {taeda.__version__} from {home.parent}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
