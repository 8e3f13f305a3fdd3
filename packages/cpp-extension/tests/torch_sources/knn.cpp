// The k nearest rows, and all rows within a radius.
#include <torch/extension.h>

#include <algorithm>
#include <vector>

template <typename scalar_t> static std::vector<std::pair<scalar_t, int64_t>> sorted_distances(at::TensorAccessor<scalar_t, 2> x, at::TensorAccessor<scalar_t, 1> q)
{
    std::vector<std::pair<scalar_t, int64_t>> all;
    for (int64_t i = 0; i < x.size(0); i++) {
        scalar_t sum = 0;
        for (int64_t d = 0; d < x.size(1); d++) sum += (x[i][d] - q[d]) * (x[i][d] - q[d]);
        all.emplace_back(sum, i);
    }
    std::sort(all.begin(), all.end());
    return all;
}

torch::Tensor knn(torch::Tensor x, torch::Tensor y, int64_t k)
{
    std::vector<int64_t> rows, columns;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "knn", [&] {
        auto from = x.accessor<scalar_t, 2>(), to = y.accessor<scalar_t, 2>();
        for (int64_t i = 0; i < y.size(0); i++) {
            auto all = sorted_distances<scalar_t>(from, to[i]);
            for (int64_t j = 0; j < std::min<int64_t>(k, int64_t(all.size())); j++) {
                rows.push_back(i);
                columns.push_back(all[size_t(j)].second);
            }
        }
    });
    auto size = int64_t(rows.size());
    auto a = torch::from_blob(rows.data(), {size}, torch::kLong), b = torch::from_blob(columns.data(), {size}, torch::TensorOptions().dtype(torch::kInt64));
    return torch::stack({a, b}, 0);
}

std::vector<int64_t> ball_query(torch::Tensor x, torch::Tensor centre, double radius)
{
    std::vector<int64_t> found;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ball_query", [&] {
        for (const auto &one : sorted_distances<scalar_t>(x.accessor<scalar_t, 2>(), centre.accessor<scalar_t, 1>()))
            if (double(one.first) <= radius * radius) found.push_back(one.second);
    });
    return found;
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("knn(Tensor x, Tensor y, int k=1) -> Tensor", &knn);
    m.def("ball_query", &ball_query);
}
