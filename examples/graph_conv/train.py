"""Handwritten digits by a graph: two graph convolutions learn 1,797 images from 100 labels.

Each image of scikit-learn's digits is joined to its eight nearest neighbours. A layer averages over
neighbours with a sparse matrix, the normalised adjacency of Kipf and Welling (2017), so the labels of few
images reach all others.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

import taeda
import taeda.nn.functional as F
from taeda import nn


class GraphConvolution(nn.Module):
    """graph @ (x @ weight) + bias."""

    def __init__(self, graph: taeda.Tensor, inputs: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("graph", graph, persistent=False)
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(taeda.zeros(outputs))

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.graph @ self.linear(x) + self.bias


class Net(nn.Module):
    def __init__(self, graph: taeda.Tensor, hidden: int = 32) -> None:
        super().__init__()
        self.first = GraphConvolution(graph, 64, hidden)
        self.second = GraphConvolution(graph, hidden, 10)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.second(F.relu(self.first(x)))


def neighbours(pixels, layout: str) -> taeda.Tensor:
    """The adjacency with loops, symmetric, each entry divided by the root of both degrees."""
    found = kneighbors_graph(pixels, 8, include_self=True)
    found = found.maximum(found.T).tocoo()
    row, col = taeda.tensor(found.row).long(), taeda.tensor(found.col).long()
    degree = taeda.bincount(row).float()
    values = (degree[row] * degree[col]).rsqrt()
    graph = taeda.sparse_coo_tensor(taeda.stack([row, col]), values, found.shape)
    return graph.coalesce() if layout == "coo" else graph.coalesce().to_sparse_csr()


def load(layout: str = "csr") -> tuple[taeda.Tensor, taeda.Tensor, taeda.Tensor]:
    """(graph, images, labels)."""
    pixels, labels = load_digits(return_X_y=True)
    x = taeda.tensor(pixels, dtype=taeda.float32) / 16
    return neighbours(pixels, layout), x, taeda.tensor(labels)


def make(layout: str = "csr") -> Net:
    return Net(load(layout)[0])


def train(model: Net, steps: int = 60) -> list[float]:
    """Learn the first 100 labels; the loss of each step."""
    _, x, y = load()
    optimizer = taeda.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x)[:100], y[:100])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--layout", choices=("coo", "csr"), default="csr")
    options = parser.parse_args()
    taeda.manual_seed(0)
    model = make(options.layout)
    losses = train(model, options.steps)
    _, x, y = load()
    with taeda.no_grad():
        right = (model(x)[100:].argmax(1) == y[100:]).float().mean().item()
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}; {right:.1%} of the other images are right")


if __name__ == "__main__":
    main()
