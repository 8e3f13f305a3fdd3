"""Cases of tensors that are not plain: sparse ones, and batches of sequences of different lengths.

Sequences are nested in taeda and padded in torch, whose own nested tensors take four times as long as
padded ones; `padded` rows are padded in both.
"""

from __future__ import annotations

from typing import Any

from cases import Case, case

#: 53 % of the places of a padded batch, 36 % of the pairs
LENGTHS = [24, 251, 479, 186, 414, 121, 349, 56, 284, 512, 219, 446, 154, 381, 89, 316]
HEADS, WIDTH = 8, 64


# ---- sparse ----
def _random(lib: Any, rows: int, columns: int, count: int, seed: int = 0) -> Any:
    """COO, each place as likely; places may stand twice."""
    lib.manual_seed(seed)
    places = lib.stack([lib.randint(0, rows, (count,)), lib.randint(0, columns, (count,))])
    return lib.sparse_coo_tensor(places, lib.randn(count), (rows, columns))


def _sparse(name: str, rows: int, count: int, make: Any) -> None:
    @case("kinds", name)
    def prepare(lib: Any) -> Any:
        return make(lib, _random(lib, rows, rows, count))


def _product(columns: int) -> Any:
    def make(lib: Any, x: Any) -> Any:
        matrix, other = x.coalesce().to_sparse_csr(), lib.randn(x.shape[1], columns)
        return lambda: matrix @ other

    return make


def _steps(lib: Any, x: Any) -> Any:
    matrix = x.coalesce()
    other = lib.randn(x.shape[1], 64, requires_grad=True)
    return lambda: lib.sparse.mm(matrix, other).sum().backward()


def _between(lib: Any, x: Any) -> Any:
    matrix = x.coalesce().to_sparse_csr()
    return lambda: matrix @ matrix


def _sampled(lib: Any, x: Any) -> Any:
    matrix, a = x.coalesce().to_sparse_csr(), lib.randn(x.shape[0], 64)
    b = lib.randn(64, x.shape[1])
    return lambda: lib.sparse.sampled_addmm(matrix, a, b)


def _dense(lib: Any, x: Any) -> Any:
    dense = x.to_dense()
    return lambda: dense.to_sparse()


def _tiny(lib: Any, x: Any) -> Any:
    matrix = x.coalesce().to_sparse_csr()
    return lambda: matrix.abs()


for _columns in (32, 64, 128, 512):
    _sparse(f"CSR @ dense, 4096, 1 %, {_columns} columns", 4096, 167_772, _product(_columns))
_sparse("CSR @ dense, 4096, 0.1 %, 64 columns", 4096, 16_777, _product(64))
for _columns in (64, 512):
    _sparse(f"CSR @ dense, 4096, 10 %, {_columns} columns", 4096, 1_677_721, _product(_columns))
_sparse("CSR @ dense, 100,000 nodes, 10 a row, 256 columns", 100_000, 1_000_000, _product(256))
_sparse("abs of CSR, 10 x 10", 10, 30, _tiny)
_sparse("CSR @ dense, 100,000 nodes, 10 a row, 64 columns", 100_000, 1_000_000, _product(64))
_sparse("CSR @ dense, 10 x 10", 10, 30, _product(10))
_sparse("sparse.mm and gradient, 20,000 nodes, 10 a row", 20_000, 200_000, _steps)
_sparse("sparse.mm and gradient, 100,000 nodes, 10 a row", 100_000, 1_000_000, _steps)
_sparse("CSR @ CSR, 20,000, 10 a row", 20_000, 200_000, _between)
_sparse("sampled_addmm, 4096, 1 %", 4096, 167_772, _sampled)
_sparse("coalesce, 1 M of 100,000", 100_000, 1_000_000, lambda lib, x: lambda: x.clone().coalesce())
_sparse("coalesce, 1 M of 2,000", 2000, 1_000_000, lambda lib, x: lambda: x.clone().coalesce())
_sparse("sampled_addmm, 100,000, 1 M", 100_000, 1_000_000, _sampled)
_sparse("coalesce, 20 k of 2,000", 2000, 20_000, lambda lib, x: lambda: x.clone().coalesce())
_sparse("to_sparse, 2000 x 2000, 5 %", 2000, 200_000, _dense)


def _double(columns: int) -> None:
    @case("kinds", f"CSR @ dense, 4096, 1 %, {columns} columns, float64")
    def prepare(lib: Any) -> Any:
        matrix = _random(lib, 4096, 4096, 167_772).double().coalesce().to_sparse_csr()
        other = lib.randn(4096, columns, dtype=lib.float64)
        return lambda: matrix @ other


_double(64)
_double(512)


def _softmax(lib: Any, x: Any) -> Any:
    whole = x.coalesce()
    return lambda: lib.sparse.softmax(whole, 1)


_sparse("sparse softmax, 4096, 1 %", 4096, 167_772, _softmax)
_sparse("sparse softmax, 100,000, 1 M", 100_000, 1_000_000, _softmax)


@case("kinds", "step of SparseAdam, 1 M x 64, 100,000 rows")
def table_step(lib: Any) -> Any:
    layer = lib.nn.Embedding(1_000_000, 64, sparse=True)
    words = lib.randint(0, 1_000_000, (100_000,))
    layer(words).sum().backward()
    return lib.optim.SparseAdam(list(layer.parameters())).step


@case("kinds", "CSR to CSC, 100,000, 1 M")
def to_csc(lib: Any) -> Any:
    x = _random(lib, 100_000, 100_000, 1_000_000).coalesce().to_sparse_csr()
    return lambda: x.to_sparse_csc()


# ---- sequences ----
def _sequences(lib: Any, width: int, padded: bool) -> tuple[Any, Any]:
    """A batch, and where it has padding, or None."""
    lib.manual_seed(0)
    pieces = [lib.randn(n, width) for n in LENGTHS]
    if not padded and lib.__name__ != "torch":
        return lib.nested.nested_tensor(pieces, layout=lib.jagged), None
    batch = lib.nn.utils.rnn.pad_sequence(pieces, batch_first=True)
    return batch, lib.arange(max(LENGTHS)) >= lib.tensor(LENGTHS)[:, None]


def _attention(padded: bool, gradients: bool) -> Case:
    def make(lib: Any) -> Any:
        batch, padding = _sequences(lib, 3 * HEADS * WIDTH, padded)
        batch.requires_grad_(gradients)
        mask = None if padding is None else ~padding[:, None, None, :]

        def attend() -> Any:
            parts = [x.unflatten(-1, [HEADS, WIDTH]).transpose(1, 2) for x in batch.chunk(3, -1)]
            return lib.nn.functional.scaled_dot_product_attention(*parts, attn_mask=mask)

        return (lambda: attend().sum().backward()) if gradients else attend

    return make


def _encoder(padded: bool, gradients: bool) -> Case:
    def make(lib: Any) -> Any:
        layer = lib.nn.TransformerEncoderLayer(512, HEADS, 2048, dropout=0.0, batch_first=True)
        batch, padding = _sequences(lib, HEADS * WIDTH, padded)
        batch.requires_grad_(gradients)

        def run() -> Any:
            return layer(batch, src_key_padding_mask=padding)

        return (lambda: run().sum().backward()) if gradients else run

    return make


for _padded in (False, True):
    for _gradients in (False, True):
        _more = (", padded" if _padded else "") + (", with gradients" if _gradients else "")
        case("kinds", f"attention of 16 sequences{_more}")(_attention(_padded, _gradients))
        case("kinds", f"encoder layer of 16 sequences{_more}")(_encoder(_padded, _gradients))
