"""torch-geometric: layers, sparse matrices, batches, hetero graphs, files."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
import torch_geometric as pyg
from torch_geometric import EdgeIndex, nn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.utils import spmm, to_torch_coo_tensor, to_torch_csr_tensor

from .given import filled, normal, trained

EDGES = torch.tensor([[0, 1, 2, 0, 3, 1], [1, 2, 0, 2, 1, 3]])


def _layer(layer: Any, *more: Any, **named: Any) -> list[Any]:
    x = normal(4, 6).requires_grad_()
    out = filled(layer)(x, EDGES, *more, **named)
    out.square().sum().backward()
    return [out, x.grad, *(p.grad for p in layer.parameters() if p.grad is not None)]


def convolutions() -> Any:
    kinds = [
        nn.GCNConv(6, 5),
        nn.SAGEConv(6, 5),
        nn.GraphConv(6, 5),
        nn.ChebConv(6, 5, 3),
        nn.TAGConv(6, 5),
    ]
    kinds += [
        nn.SGConv(6, 5, 2),
        nn.LEConv(6, 5),
        nn.ClusterGCNConv(6, 5),
        nn.ARMAConv(6, 5),
        nn.MFConv(6, 5),
    ]
    return [_layer(kind) for kind in kinds]


def attentions() -> Any:
    return [
        _layer(kind)
        for kind in (nn.GATConv(6, 5, heads=2), nn.GATv2Conv(6, 5), nn.TransformerConv(6, 5))
    ]


def networks_on_edges() -> Any:
    def net() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5))

    with_edges = _layer(nn.GINEConv(torch.nn.Linear(6, 5), edge_dim=3), normal(6, 3))
    return [
        _layer(nn.GINConv(net(), train_eps=True)),
        with_edges,
        _layer(nn.EdgeConv(torch.nn.Linear(12, 5))),
    ]


def pooling_and_norms() -> Any:
    x, batch = normal(6, 4), torch.tensor([0, 0, 0, 1, 1, 1])
    found = [f(x, batch) for f in (nn.global_mean_pool, nn.global_max_pool, nn.global_add_pool)]
    found += [nn.GraphNorm(4)(x, batch), nn.InstanceNorm(4)(x, batch), nn.PairNorm()(x, batch)]
    pooled = filled(nn.TopKPooling(6))(normal(4, 6), EDGES)
    return [
        *found,
        pooled[0],
        nn.aggr.SoftmaxAggregation()(x, batch),
        nn.aggr.MedianAggregation()(x, batch),
    ]


def a_network_trains() -> Any:
    model = filled(nn.GCN(6, 8, 2, 3))
    x, y = normal(4, 6), torch.tensor([0, 1, 2, 0])
    return trained(model, lambda: torch.nn.functional.cross_entropy(model(x, EDGES), y), rate=0.01)


def sparse_matrices() -> Any:
    x, layer = normal(4, 6), filled(nn.SAGEConv(6, 2))
    rows = torch.sparse_coo_tensor(EDGES.flip(0), torch.ones(6), (4, 4))
    dense = layer(x, EDGES)
    assert torch.allclose(layer(x, rows.to_sparse_csr()), dense, atol=1e-5)
    other = filled(nn.GCNConv(6, 2))
    assert torch.allclose(other(x, rows.coalesce()), other(x, EDGES), atol=1e-5)
    csr, coo = to_torch_csr_tensor(EDGES, size=(4, 4)), to_torch_coo_tensor(EDGES, size=(4, 4))
    return [dense, spmm(csr, x), spmm(coo, x, "mean")]


def edges_that_know_their_order() -> Any:
    edges = EdgeIndex(EDGES, sparse_size=(4, 4)).sort_by("row")[0]
    x = normal(4, 6).requires_grad_()
    out = edges.matmul(x)
    out.sum().backward()
    assert type(edges[:, :3]) is EdgeIndex
    return [out, x.grad, edges.to_dense()]


def batches_of_graphs() -> Any:
    graphs = [Data(x=normal(4, 6), edge_index=EDGES, y=torch.tensor([n])) for n in range(4)]
    seen = [(batch.x, batch.edge_index, batch.ptr, batch.y) for batch in DataLoader(graphs, 2)]
    whole = Batch.from_data_list(graphs)
    assert torch.equal(whole[1].x, graphs[1].x)
    return seen


def graphs_in_files() -> None:
    data = Data(x=normal(4, 6), edge_index=EDGES)
    mixed = HeteroData()
    mixed["a"].x = normal(3, 2)
    mixed["a", "to", "a"].edge_index = EDGES % 3
    with tempfile.TemporaryDirectory() as folder:
        for kept in (data, mixed):
            torch.save(kept, f"{folder}/d.pt")
            again = torch.load(f"{folder}/d.pt", weights_only=False)
            assert type(again) is type(kept) and again.num_nodes == kept.num_nodes
        model = nn.GCNConv(6, 2)
        torch.save(model.state_dict(), f"{folder}/m.pt")
        model.load_state_dict(torch.load(f"{folder}/m.pt"))


def a_batch_in_a_file() -> None:
    batch = Batch.from_data_list([Data(x=normal(4, 6), edge_index=EDGES)] * 2)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(batch, f"{folder}/b.pt")
        again = torch.load(f"{folder}/b.pt", weights_only=False)
    assert torch.equal(again.x, batch.x) and again.num_graphs == 2
    assert torch.equal(again[1].x, batch[1].x)


LINKS = {
    ("a", "to", "b"): torch.tensor([[0, 1, 2], [0, 1, 1]]),
    ("b", "of", "a"): torch.tensor([[0, 1], [2, 0]]),
}


def hetero_graphs() -> Any:
    kinds = {"a": normal(3, 4), "b": normal(2, 5)}
    parts = {
        ("a", "to", "b"): nn.SAGEConv((4, 5), 6),
        ("b", "of", "a"): nn.GATConv((5, 4), 6, add_self_loops=False),
    }
    return filled(nn.HeteroConv(parts))(kinds, LINKS)


def to_hetero() -> None:
    model = nn.to_hetero(nn.GraphSAGE((-1, -1), 4, 2), (["a", "b"], list(LINKS)))
    assert set(model({"a": normal(3, 4), "b": normal(2, 5)}, LINKS)) == {"a", "b"}


def transforms_and_utilities() -> Any:
    t = pyg.transforms
    data = Data(x=normal(4, 6), edge_index=EDGES, pos=normal(4, 3))
    for change in (
        t.ToUndirected(),
        t.NormalizeFeatures(),
        t.AddSelfLoops(),
        t.Distance(),
        t.AddLaplacianEigenvectorPE(2),
    ):
        data = change(data)
    u = pyg.utils
    return [
        data.edge_index,
        data.edge_attr,
        u.degree(EDGES[0]),
        u.softmax(normal(6), EDGES[1]),
        u.to_dense_adj(EDGES),
        u.scatter(normal(6, 2), EDGES[0], reduce="max"),
        u.k_hop_subgraph(0, 1, EDGES)[0],
    ]


def explanations() -> None:
    model = filled(nn.GCN(6, 8, 2, 3))
    explainer = pyg.explain.Explainer(
        model,
        pyg.explain.GNNExplainer(epochs=4),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    found = explainer(normal(4, 6), EDGES, index=1)
    assert found.edge_mask.shape == (6,) and found.node_mask.shape == (4, 6)
