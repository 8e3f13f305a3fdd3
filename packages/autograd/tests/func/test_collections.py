"""Collections of tensors that make samples of themselves are mapped as one argument and one result."""

from __future__ import annotations

import pytest

import taeda
from taeda.func import _collections, vmap
from taeda.utils import _pytree


class Rows:
    """Tensors by name and the dimensions that all of them have, as tensordict's classes hold them."""

    def __init__(self, values, batch_size):
        self.values, self.batch_size = values, list(batch_size)

    def keys(self):
        return self.values.keys()

    def clone(self, recurse=True):
        return Rows(dict(self.values), self.batch_size)

    def __getitem__(self, index):
        values = {name: value[index] for name, value in self.values.items()}
        return Rows(values, next(iter(values.values())).shape[: len(self.batch_size)])

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert func is taeda.cat
        parts, dim = args
        names = parts[0].keys()
        return Rows({n: taeda.cat([p.values[n] for p in parts], dim) for n in names}, [0])

    def _add_batch_dim(self, *, in_dim, vmap_level):
        made = {
            n: _collections.add_batch_dim(v, in_dim, vmap_level) for n, v in self.values.items()
        }
        return Rows(made, self.batch_size[:in_dim] + self.batch_size[in_dim + 1 :])

    def _maybe_remove_batch_dim(self, name, *, vmap_level, batch_size, out_dim):
        args = (vmap_level, batch_size, out_dim)
        made = {
            n: _collections.maybe_remove_batch_dim(name, v, *args) for n, v in self.values.items()
        }
        size = list(self.batch_size)
        size.insert(out_dim, batch_size)
        return Rows(made, size)


@pytest.fixture
def rows():
    # the library tells pytree of its classes, whose own way would lose the batch size
    _pytree.register_pytree_node(Rows, lambda r: (list(r.values.values()), list(r.values)), None)
    yield Rows({"a": taeda.arange(6.0).view(3, 2), "b": taeda.ones(3)}, [3])
    del _pytree.SUPPORTED_NODES[Rows]


@pytest.mark.parametrize("chunk", [None, 2])
def test_samples_lose_the_mapped_dimension_and_results_have_it(rows, chunk):
    seen = []

    def one(row, x):
        seen.append((row.batch_size, row.values["a"].shape))
        return Rows({"a": row.values["a"] * x}, row.batch_size), {"sum": row.values["a"].sum()}

    made, sums = vmap(one, chunk_size=chunk)(rows, taeda.tensor([1.0, 10.0, 100.0]))
    assert all(pair == ([], (2,)) for pair in seen) and len(seen) == (2 if chunk else 1)
    assert made.values["a"].tolist() == [[0, 1], [20, 30], [400, 500]]
    assert sums["sum"].tolist() == [1, 5, 9] and (chunk or made.batch_size == [3])


def test_one_that_all_samples_share_may_be_filled_inside(rows):
    def one(x, shared):
        shared.values["new"] = x
        return shared.values["b"].sum() * x

    assert vmap(one, (0, None))(taeda.arange(2.0), rows).tolist() == [0, 3]
    assert set(rows.values) == {"a", "b"}


def test_maps_in_maps_and_keywords_which_are_shared(rows):
    made = vmap(lambda row: vmap(lambda v: v * row.values["b"])(row.values["a"]))(rows)
    assert made.tolist() == rows.values["a"].tolist()
    shared = vmap(lambda x, *, row: x * row.values["b"])(taeda.tensor([1.0, 2.0]), row=rows)
    assert shared.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_what_does_not_fit_is_refused(rows):
    with pytest.raises(ValueError, match=r"in_dim=1 for a Rows of batch size \[3\]"):
        vmap(lambda row: row.values["b"], 1)(rows)
    with pytest.raises(ValueError, match="same size"):
        vmap(lambda row, x: x)(rows, taeda.ones(2))
    with pytest.raises(RuntimeError, match="no vmap of the number 10"):
        _collections.remove_batch_dim(taeda.ones(2), 10**9, 2, 0)
    with pytest.raises(ValueError, match="BatchedTensor when out_dim is None"):
        vmap(lambda x: Leaking(x))(taeda.ones(2))
    with pytest.raises(ValueError, match="must only return Tensors"):
        _collections.maybe_remove_batch_dim("f", "text", 0, 2, 0)


class Leaking(Rows):
    def __init__(self, x):
        super().__init__({"x": x}, [])

    def _maybe_remove_batch_dim(self, name, *, vmap_level, batch_size, out_dim):
        return _collections.maybe_remove_batch_dim(name, self.values["x"], vmap_level, 2, None)
