"""taeda/taeda.hpp on what ABI 1.2 added: strides, work space, random bits, Python's lock, DLPack,
later kinds.
"""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

SOURCE = r"""
#include <thread>
using taeda::Tensor;

Tensor strided(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return taeda::empty_strided(sizes, strides);
}
Tensor last(std::vector<int64_t> sizes) { return taeda::empty(sizes, taeda::MemoryFormat::channels_last); }
Tensor reversed(Tensor x)
{
    x = x.contiguous();
    Tensor y = taeda::empty_like(x);
    taeda::Scratch<float> space(x.numel());
    for (int64_t i = 0; i < space.size(); i++) space[i] = x.data<float>()[space.size() - 1 - i];
    std::memcpy(y.mutable_data<float>(), space.data(), size_t(space.size()) * sizeof(float));
    return y;
}
void too_much(int64_t n) { taeda::Scratch<double> space(n); }
Tensor bits(int64_t blocks, taeda::Generator generator)
{
    taeda::RandomBits stream(generator, blocks);
    Tensor made = taeda::empty({blocks, 4}, TAEDA_INT32);
    uint32_t *words = reinterpret_cast<uint32_t *>(made.mutable_data<int32_t>());
    taeda::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
        stream.fill(begin, end - begin, words + 4 * begin); });
    return made;
}
Tensor shuffled(int64_t n, taeda::Generator generator) { return taeda::call("randperm", n, generator); }
Tensor filled(uint64_t value) { return taeda::call("full", std::vector<int64_t>{2}, value, TAEDA_UINT64); }
Tensor waits(Tensor x)
{
    Tensor made;
    taeda::WithoutPython free;
    std::thread other([&] { made = taeda::call("add.Tensor", x, 1); });
    other.join();
    return made;
}
Tensor lent(Tensor x) { return taeda::from_dlpack(x.to_dlpack()).contiguous(); }
"""
FUNCTIONS = "strided last reversed too_much bits shuffled filled waits lent".split()


@pytest.fixture(scope="module")
def ext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    return load_inline("words_hpp", SOURCE, functions=FUNCTIONS, build_directory=folder)


def test_tensors_of_any_strides(ext):
    assert ext.strided([2, 3], [1, 2]).stride() == (1, 2)
    assert ext.last([2, 3, 4, 5]).is_contiguous(memory_format=taeda.channels_last)
    with pytest.raises(ValueError, match="must not be negative"):
        ext.strided([2], [-1])
    with pytest.raises(ValueError, match="1 sizes and 2 strides"):
        ext.strided([2], [1, 1])


def test_work_space(ext):
    assert ext.reversed(taeda.arange(100.0)).tolist() == [*map(float, range(99, -1, -1))]
    with pytest.raises(MemoryError):
        ext.too_much(2**59)
    for count in (-1, 2**62):
        with pytest.raises(ValueError, match="cannot exist"):
            ext.too_much(count)


def test_random_bits(ext):
    one, other = (ext.bits(50, taeda.Generator().manual_seed(4)) for _ in range(2))
    assert taeda.equal(one, other)
    assert not taeda.equal(one, ext.bits(50, taeda.Generator().manual_seed(5)))
    taeda.manual_seed(4)
    assert taeda.equal(one, ext.bits(50, None))
    wanted = taeda.randperm(9, generator=taeda.Generator().manual_seed(4))
    assert taeda.equal(ext.shuffled(9, taeda.Generator().manual_seed(4)), wanted)


def test_numbers_of_any_sign(ext):
    for value in (0, 7, 2**63 - 1, 2**63, 2**64 - 1):
        assert ext.filled(value).tolist() == [value, value]
    with pytest.raises(ValueError, match="does not fit into a uint64_t"):
        ext.filled(-1)
    with pytest.raises(TypeError, match="which the C\\+\\+ function cannot take"):
        ext.filled(1.5)


def test_waiting_for_a_thread_that_calls(ext):
    made = []
    waiting = threading.Thread(target=lambda: made.append(ext.waits(taeda.ones(2))), daemon=True)
    waiting.start()
    waiting.join(30)
    assert [m.tolist() for m in made] == [[2, 2]]


def test_memory_that_is_lent(ext):
    x = taeda.arange(6.0).reshape(2, 3).t()
    assert taeda.equal(ext.lent(x), x)
