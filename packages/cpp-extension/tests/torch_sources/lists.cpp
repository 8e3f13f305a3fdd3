// Lists of tensors as results: alone, among others, more than an operator has results, with a derivative.
#include <torch/extension.h>

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// x * 0, x * 1, ...: any number of them
struct Steps : torch::autograd::Function<Steps> {
    static variable_list forward(AutogradContext *ctx, const torch::Tensor &x, int64_t n)
    {
        ctx->saved_data["n"] = n;
        ctx->save_for_backward({x});
        variable_list made;
        for (int64_t i = 0; i < n; i++) made.push_back(x * i);
        return made;
    }
    static variable_list backward(AutogradContext *ctx, variable_list grads)
    {
        auto x = ctx->get_saved_variables()[0];
        TORCH_CHECK(int64_t(grads.size()) == ctx->saved_data["n"].toInt(), grads.size(), " gradients");
        auto made = torch::zeros_like(x);
        for (size_t i = 0; i < grads.size(); i++)
            if (grads[i].defined()) made = made + grads[i] * int64_t(i);
        return {made, torch::Tensor()};
    }
};
std::vector<at::Tensor> steps(const at::Tensor &x, int64_t n) { return Steps::apply(x, n); }
std::tuple<at::Tensor, std::vector<at::Tensor>, std::vector<int64_t>> parted(const at::Tensor &x, int64_t n)
{
    auto made = steps(x, n);
    return {x.sum(), made, {int64_t(made.size())}};
}
std::vector<at::Tensor> with_gaps(const at::Tensor &x) { return {x + 1, at::Tensor()}; }
using T = at::Tensor;
std::tuple<T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T> eighteen(const T &x)
{
    return {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x + 17};
}
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("steps(Tensor x, int n) -> Tensor[]", &steps);
    m.def("parted(Tensor x, int n) -> (Tensor, Tensor[], int[])", &parted);
    m.def("with_gaps", &with_gaps);
    m.def("eighteen", &eighteen);
}
