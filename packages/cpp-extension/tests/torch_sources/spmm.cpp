// A sparse matrix of rows times a dense one; registered in the older way, with a derivative for both.
#include <torch/script.h>

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

static torch::Tensor product(torch::Tensor rowptr, torch::Tensor col, torch::optional<torch::Tensor> value, torch::Tensor mat)
{
    mat = mat.contiguous();
    col = col.contiguous();
    auto sizes = mat.sizes().vec();
    sizes[0] = rowptr.numel() - 1;
    auto out = torch::zeros(sizes, mat.options());
    auto p = rowptr.data_ptr<int64_t>(), c = col.data_ptr<int64_t>();
    AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, mat.scalar_type(), "spmm", [&] {
        scalar_t *v = value ? value->data_ptr<scalar_t>() : nullptr;
        auto m = mat.accessor<scalar_t, 2>(), o = out.accessor<scalar_t, 2>();
        for (int64_t i = 0; i < out.size(0); i++)
            for (int64_t e = p[i]; e < p[i + 1]; e++)
                for (int64_t k = 0; k < mat.size(1); k++) o[i][k] += v ? v[e] * m[c[e]][k] : m[c[e]][k];
    });
    return out;
}

class Spmm : public torch::autograd::Function<Spmm> {
public:
    static variable_list forward(AutogradContext *ctx, Variable row, Variable rowptr, Variable col, Variable value, Variable mat, bool has_value)
    {
        torch::optional<torch::Tensor> given = torch::nullopt;
        if (has_value) given = value;
        if (has_value && torch::autograd::any_variable_requires_grad({value})) AT_ASSERTM(row.defined(), "row is missing");
        ctx->saved_data["has_value"] = has_value;
        ctx->save_for_backward({row, col, value, mat});
        return {product(rowptr, col, given, mat)};
    }
    static variable_list backward(AutogradContext *ctx, variable_list grads)
    {
        auto has_value = ctx->saved_data["has_value"].toBool();
        auto saved = ctx->get_saved_variables();
        auto row = saved[0], col = saved[1], value = saved[2], mat = saved[3];
        auto grad = grads[0].index_select(0, row);
        Variable grad_value, grad_mat = torch::zeros_like(mat);
        if (has_value) grad_value = (grad * mat.index_select(0, col)).sum(1);
        grad_mat.index_add_(0, col, has_value ? grad * value.unsqueeze(-1) : grad);
        return {Variable(), Variable(), Variable(), grad_value, grad_mat, Variable()};
    }
};

torch::Tensor spmm(torch::optional<torch::Tensor> row, torch::Tensor rowptr, torch::Tensor col, torch::optional<torch::Tensor> value, torch::Tensor mat)
{
    return Spmm::apply(row.value_or(torch::Tensor()), rowptr, col, value.value_or(torch::Tensor()), mat, value.has_value())[0];
}

static auto registry = torch::RegisterOperators().op("zoo::spmm", &spmm).op("zoo::version", [] { return int64_t(3); });
