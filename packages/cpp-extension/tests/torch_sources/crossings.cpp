// Types of arguments and results beside Tensors and plain numbers; tensors that get another size.
#include <torch/extension.h>

namespace {
at::Tensor total(at::TensorList xs, const c10::List<c10::optional<at::Tensor>> &ws)
{
    at::Tensor made = at::zeros({}, xs.at(0).options());
    for (const auto &x : xs) made = made + x.sum();
    for (size_t i = 0; i < ws.size(); i++) {
        c10::optional<at::Tensor> w = ws.get(i);
        if (w.has_value()) made = made + w->sum();
    }
    return made;
}
int64_t given(at::ArrayRef<c10::optional<at::Tensor>> xs)
{
    return std::count_if(xs.begin(), xs.end(), [](const auto &x) { return x.has_value(); });
}
int64_t sum(c10::List<int64_t> list)
{
    int64_t made = 0;
    for (int64_t one : list) made += one;
    return made;
}
at::Tensor times(const at::Tensor &x, c10::complex<double> z) { return x * at::Scalar(z); }
c10::complex<float> turned(c10::complex<float> z) { return z * c10::complex<float>(0, 1); }
at::Scalar echoed(const at::Scalar &v) { return v; }
std::vector<std::string> words(const std::string &text)
{
    std::vector<std::string> made{""};
    for (char c : text)
        if (c == ' ') made.emplace_back();
        else made.back() += c;
    return made;
}
std::tuple<std::vector<std::string>, std::vector<bool>, c10::List<int64_t>> mixed() { return {{"a", "b:c"}, {true, false}, c10::List<int64_t>({1, 2})}; }

/* elements stay in the order in which they lie; all handles stand for the new size */
std::tuple<at::Tensor, at::Tensor> resized(const at::Tensor &x, at::IntArrayRef size)
{
    at::Tensor made = x.clone(), same = made;
    made.resize_(size);
    TORCH_CHECK(same.is_same(made) && same.sizes() == size);
    TORCH_CHECK(made.is_contiguous() || size == x.sizes());
    return {same, at::empty({0}).resize_as_(x).fill_(1)};
}
at::Tensor &twice_out(const at::Tensor &x, at::Tensor &out)
{
    out.resize_(x.sizes());
    return out.copy_(x * 2);
}
void throws(int64_t kind)
{
    if (kind == 0) C10_THROW_ERROR(ValueError, "a value");
    throw c10::Error("an error", "where it was");
}
}

TORCH_LIBRARY_FRAGMENT(crossings, m)
{
    m.def("total(Tensor[] xs, Tensor?[] ws) -> Tensor", &total);
    m.def("given(Tensor?[] xs) -> int", &given);
    m.def("sum(int[] list) -> int", &sum);
    m.def("times", &times);
    m.def("turned", &turned);
    m.def("echoed", &echoed);
    m.def("words", &words);
    m.def("mixed", &mixed);
    m.def("resized(Tensor x, int[] size) -> (Tensor, Tensor)", &resized);
    m.def("twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", &twice_out);
    m.def("throws(int kind) -> ()", &throws);
}
