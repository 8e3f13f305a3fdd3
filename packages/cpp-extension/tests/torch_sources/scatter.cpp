// Sums and maxima of rows that an index names; the sum with its derivative in C++.
#include <torch/extension.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static torch::Tensor sum_rows(const torch::Tensor &src, const torch::Tensor &index, int64_t n)
{
    auto out = torch::zeros({n, src.size(1)}, src.options());
    auto where = index.data_ptr<int64_t>();
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, src.scalar_type(), "scatter_sum", [&] {
        auto from = src.accessor<scalar_t, 2>();
        auto to = out.accessor<scalar_t, 2>();
        for (int64_t i = 0; i < src.size(0); i++)
            for (int64_t j = 0; j < src.size(1); j++) to[where[i]][j] += from[i][j];
    });
    return out;
}

class ScatterSum : public torch::autograd::Function<ScatterSum> {
public:
    static torch::Tensor forward(AutogradContext *ctx, torch::Tensor src, torch::Tensor index, int64_t n)
    {
        ctx->save_for_backward({index});
        ctx->saved_data["rows"] = n;
        return sum_rows(src, index, n);
    }
    static variable_list backward(AutogradContext *ctx, variable_list grads)
    {
        auto index = ctx->get_saved_variables()[0];
        TORCH_CHECK_EQ(ctx->saved_data["rows"].toInt(), grads[0].size(0));
        return {grads[0].index_select(0, index), torch::Tensor(), torch::Tensor()};
    }
};

torch::Tensor scatter_sum(torch::Tensor src, torch::Tensor index, c10::optional<int64_t> rows)
{
    TORCH_CHECK(index.scalar_type() == at::kLong, "index must be Long, got ", index.scalar_type());
    TORCH_CHECK(src.dim() == 2 && index.sizes() == src.sizes().slice(0, 1), "src ", src.sizes(), " and index ", index.sizes());
    int64_t n = rows.has_value() ? rows.value() : index.numel() ? index.max().item<int64_t>() + 1 : 0;
    return ScatterSum::apply(src, index.contiguous(), n);
}

std::tuple<torch::Tensor, torch::Tensor> scatter_max(torch::Tensor src, torch::Tensor index, int64_t n)
{
    auto out = torch::full({n}, -std::numeric_limits<double>::infinity(), src.options());
    auto arg = torch::full_like(out, src.numel(), index.options());
    AT_DISPATCH_FLOATING_TYPES(src.type(), "scatter_max", ([&] {
                                   auto x = src.contiguous();
                                   const scalar_t *from = x.data_ptr<scalar_t>();
                                   scalar_t *to = out.data<scalar_t>();
                                   auto where = index.accessor<int64_t, 1>();
                                   for (int64_t i = 0; i < x.numel(); i++)
                                       if (from[i] > to[where[i]]) {
                                           to[where[i]] = from[i];
                                           arg.data_ptr<int64_t>()[where[i]] = i;
                                       }
                               }));
    return std::make_tuple(out, arg);
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("scatter_sum", &scatter_sum);
    m.def("scatter_max(Tensor src, Tensor index, int n) -> (Tensor, Tensor)", &scatter_max);
}
