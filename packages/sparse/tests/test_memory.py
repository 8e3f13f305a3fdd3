"""Nothing becomes dense behind a program's back: memory of calls, in a process of its own."""

import subprocess
import sys

import pytest

PROGRAM = """
import taeda
taeda.set_num_threads(1)

def kilobytes(word):
    for line in open("/proc/self/status"):
        if line.startswith(word):
            return int(line.split()[1])

def taken(call):
    open("/proc/self/clear_refs", "w").write("5")
    before = kilobytes("VmRSS")
    kept = call()
    return kilobytes("VmHWM") - before

def graph(nodes, count, columns):
    taeda.manual_seed(0)
    places = taeda.randint(0, nodes, (2, count))
    x = taeda.sparse_coo_tensor(places, taeda.rand(count), (nodes, nodes)).coalesce()
    return x, taeda.rand(nodes, columns, requires_grad=True)
"""

ONE = """
x = taeda.sparse_coo_tensor([[5], [7]], taeda.ones(1), (100_000, 100_000)).requires_grad_()
row, column = taeda.ones(100_000), taeda.ones(100_000, 1)
calls = [
    lambda: x.sum(), lambda: x.sum().backward(), lambda: taeda.sparse.sum(x, 0), lambda: x.mean(),
    lambda: x.norm(), lambda: column * x, lambda: x * row, lambda: x + x, lambda: x @ x, lambda: x * x,
    lambda: (x @ row).sum().backward(), lambda: taeda.sparse.softmax(x, 1), lambda: x.t().coalesce(),
    lambda: x[5], lambda: taeda.cat([x, x]), lambda: x.to_sparse_csr(), lambda: repr(x),
    lambda: x.to_sparse_csr().sum().backward(), lambda: x.detach().clone().mul_(2),
]
for call in calls:
    call()  # code and tables come once
print(max(map(taken, calls)))
"""

PRODUCTS = {
    "sparse.mm of coordinates": "lambda: taeda.sparse.mm(x, y)",
    "sparse.mm of rows": "lambda: taeda.sparse.mm(rows, y)",
    "sums by rows": "lambda: taeda.sparse.mm(rows, y, 'sum')",
    "means by rows": "lambda: taeda.sparse.mm(rows, y, 'mean')",
    "dense by sparse": "lambda: y.t() @ x",
    "sampled_addmm": "lambda: taeda.sparse.sampled_addmm(rows, y, y.t()).values()",
}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="/proc says how much memory is held"
)


def said(program):
    command = [sys.executable, "-c", PROGRAM + program]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_one_entry_of_a_huge_matrix():
    assert said(ONE) < 4096  # kilobytes, and nodes of columns take 800; a dense matrix has 40 GB


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_with_both_gradients_takes_three_times_its_inputs_at_most(name):
    numbers = said(f"""
x, y = graph(20_000, 200_000, 64)
rows = x.to_sparse_csr().requires_grad_()
x.requires_grad_()
call = {PRODUCTS[name]}
inputs = rows.values().numel() * 12 + rows.crow_indices().numel() * 8 + y.numel() * 4
print(int(taken(lambda: call().sum().backward()) * 1024 / inputs * 100))
""")
    assert numbers < 300, f"{numbers} %"
