/* taeda_torch/dlpack.hpp - tensors on memory of others: from_blob. */
#ifndef TAEDA_TORCH_DLPACK_HPP
#define TAEDA_TORCH_DLPACK_HPP
#include <functional>

#include "taeda_torch/creation.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {

/* A DLManagedTensorVersioned of DLPack 1.0, by a name of our own: programs may include dlpack.h.
 * With it lies what it points to. */
struct Lent {
    uint32_t major = 1, minor = 0;
    void *context = this;
    void (*end)(Lent *) = [](Lent *self) {
        if (self->deleter) self->deleter(self->data);
        delete self;
    };
    uint64_t flags = 0;
    void *data = nullptr;
    int32_t device = 1, device_index = 0; /* kDLCPU */
    int32_t ndim = 0;
    uint8_t code = 0, bits = 0;
    uint16_t lanes = 1;
    int64_t *shape = nullptr, *steps = nullptr;
    uint64_t byte_offset = 0;
    /* ---- not of DLPack ---- */
    std::vector<int64_t> sizes, strides;
    std::function<void(void *)> deleter;
};

inline uint8_t dlpack_code(ScalarType t)
{
    if (t == kBool) return 6;
    if (t == kBFloat16) return 4;
    if (isComplexType(t)) return 5;
    if (isFloatingType(t)) return 2;
    return taeda::facts_of(dtype_of(t)).is_signed ? 0 : 1;
}
/* A tensor on `data` of the cpu; the deleter is called once nobody uses it. */
inline Tensor lent(void *data, IntArrayRef size, IntArrayRef stride, ScalarType type,
                   std::function<void(void *)> deleter)
{
    auto made = std::make_unique<Lent>();
    made->data = data;
    made->ndim = int32_t(size.size());
    made->code = dlpack_code(type);
    made->bits = uint8_t(8 * elementSize(type));
    made->sizes = size.vec();
    made->strides = stride.vec();
    made->shape = made->sizes.data();
    made->steps = made->strides.data();
    made->deleter = std::move(deleter);
    Tensor x(taeda::from_dlpack(reinterpret_cast<DLManagedTensorVersioned *>(made.get())));
    made.release(); /* the tensor's now */
    return x;
}
}

/* The memory must live as long as the tensor, or until `deleter` is called with it. */
inline Tensor from_blob(void *data, IntArrayRef size, IntArrayRef stride,
                        const std::function<void(void *)> &deleter,
                        const TensorOptions &options = {})
{
    detail::check_options(options);
    TORCH_CHECK_NOT_IMPLEMENTED(options.device().is_cpu(), "from_blob: memory of a ",
                                options.device().type(), " device is not taken over");
    TORCH_CHECK(size.size() == stride.size(), "from_blob: ", size.size(), " sizes and ",
                stride.size(), " strides");
    return detail::lent(data, size, stride, options.type(), deleter);
}
inline Tensor from_blob(void *data, IntArrayRef size, const std::function<void(void *)> &deleter,
                        const TensorOptions &options = {})
{
    std::vector<int64_t> stride(size.size());
    int64_t step = 1;
    for (size_t d = size.size(); d-- > 0; step *= size[d]) stride[d] = step;
    return from_blob(data, size, stride, deleter, options);
}
inline Tensor from_blob(void *data, IntArrayRef size, const TensorOptions &options = {})
{
    return from_blob(data, size, std::function<void(void *)>(), options);
}
inline Tensor from_blob(void *data, IntArrayRef size, IntArrayRef stride,
                        const TensorOptions &options = {})
{
    return from_blob(data, size, stride, std::function<void(void *)>(), options);
}

}
#endif
