// -log P(labels) of a transducer, by the forward variables over frames and labels.
#include <torch/extension.h>

#include <cmath>

template <typename T> static inline T log_add(T a, T b)
{
    if (a < b) std::swap(a, b);
    return b == -std::numeric_limits<T>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

// log_probs: [batch, frames, labels + 1, symbols]
torch::Tensor transducer_loss(torch::Tensor log_probs, torch::Tensor labels, torch::Tensor frames, torch::Tensor lengths, int blank)
{
    TORCH_CHECK_VALUE(log_probs.dim() == 4, "log_probs must have 4 dimensions, got ", log_probs.dim());
    auto loss = torch::empty({log_probs.size(0)}, log_probs.options());
    auto y = labels.accessor<int, 2>();
    AT_DISPATCH_FLOATING_TYPES(log_probs.scalar_type(), "transducer_loss", [&] {
        auto p = log_probs.packed_accessor32<scalar_t, 4, torch::RestrictPtrTraits>();
        at::parallel_for(0, log_probs.size(0), 1, [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; b++) {
                int T = frames[b].item<int>(), U = lengths[b].item<int>();
                std::vector<scalar_t> alpha(size_t(T * (U + 1)), -std::numeric_limits<scalar_t>::infinity());
                auto at = [&](int t, int u) -> scalar_t & { return alpha[size_t(t * (U + 1) + u)]; };
                at(0, 0) = 0;
                for (int t = 0; t < T; t++)
                    for (int u = 0; u <= U; u++) {
                        if (t) at(t, u) = log_add<scalar_t>(at(t, u), at(t - 1, u) + p[int(b)][t - 1][u][blank]);
                        if (u) at(t, u) = log_add<scalar_t>(at(t, u), at(t, u - 1) + p[int(b)][t][u - 1][y[b][u - 1]]);
                    }
                loss.data_ptr<scalar_t>()[b] = -(at(T - 1, U) + p[int(b)][T - 1][U][blank]);
            }
        });
    });
    return loss;
}

TORCH_LIBRARY_FRAGMENT(zoo, m) { m.def("transducer_loss(Tensor log_probs, Tensor labels, Tensor frames, Tensor lengths, *, int blank=0) -> Tensor", &transducer_loss); }
