/* taeda_torch/guard.hpp - modes of torch that hold while an object lives. */
#ifndef TAEDA_TORCH_GUARD_HPP
#define TAEDA_TORCH_GUARD_HPP
#include "taeda_torch/error.hpp"

namespace at TAEDA_HIDDEN {

/* What C++ computes records no derivative in any case: these change nothing. */
struct NoGradGuard {
    NoGradGuard() {}
    ~NoGradGuard() {}
};
struct AutoDispatchBelowADInplaceOrView : NoGradGuard {};
struct AutoDispatchBelowAutograd : NoGradGuard {};
struct AutoNonVariableTypeMode : NoGradGuard {
    explicit AutoNonVariableTypeMode(bool = true) {}
};
/* NotImplementedError where derivatives are asked for. */
struct AutoGradMode : NoGradGuard {
    explicit AutoGradMode(bool on)
    {
        if (on)
            throw c10::NotImplementedError("AutoGradMode(true): what C++ computes records no "
                                           "derivative here; write a torch::autograd::Function");
    }
};
struct GradMode {
    static bool is_enabled() { return false; }
};

}
namespace c10 TAEDA_HIDDEN {
struct InferenceMode : at::NoGradGuard {
    explicit InferenceMode(bool = true) {}
};
}
#endif
