// Cells of a grid that points fall into, by operators alone; and how rows are chosen by expressions in brackets.
#include <torch/torch.h>

torch::Tensor voxels(torch::Tensor points, torch::Tensor size, torch::optional<torch::Tensor> start, torch::optional<torch::Tensor> end)
{
    auto low = start.has_value() ? start.value() : std::get<0>(points.min(0)), high = end.has_value() ? end.value() : std::get<0>(points.max(0));
    auto cells = ((high - low).true_divide(size)).toType(torch::kLong) + 1;
    auto strides = cells.cumprod(0);
    strides = torch::cat({torch::ones({1}, strides.options()), strides}, 0).narrow(0, 0, points.size(1));
    return ((points - low.unsqueeze(0)).true_divide(size.view({1, -1})).toType(torch::kLong) * strides.view({1, -1})).sum(1);
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> bracketed(torch::Tensor x, torch::Tensor mask)
{
    using namespace torch::indexing;
    auto written = x.clone();
    written.index_put_({Slice(0, 2), 1}, -1);
    written.index_put_({mask}, 0);
    return {x.index({Slice(None, None, 2), "..."}), x.index({mask, Slice(1)}), written};
}

// one for each of a and b, where either may be left out
std::tuple<torch::Tensor, c10::optional<torch::Tensor>> halves(const torch::Tensor &x, at::IntArrayRef sizes, bool second)
{
    auto parts = x.split_with_sizes(sizes, 0);
    if (!second) return {parts[0], c10::nullopt};
    return {parts[0], parts[1]};
}

std::string describe(const at::Tensor &x, at::ScalarType type, c10::string_view words)
{
    std::ostringstream out;
    out << words << " " << x.dtype().name() << x.sizes() << " " << type << " " << x.device() << " " << x.to(type).sum().item();
    return out.str();
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("voxels", &voxels);
    m.def("bracketed", &bracketed);
    m.def("halves", &halves);
    m.def("describe", &describe);
}
