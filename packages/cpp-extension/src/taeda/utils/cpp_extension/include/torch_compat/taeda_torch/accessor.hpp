/* taeda_torch/accessor.hpp - elements by index: borrowed from a tensor, or carried by value into a
 * kernel. */
#ifndef TAEDA_TORCH_ACCESSOR_HPP
#define TAEDA_TORCH_ACCESSOR_HPP
#include "taeda_torch/array.hpp"
#include "taeda_torch/half.hpp"

namespace at TAEDA_HIDDEN {

template <class T> struct DefaultPtrTraits {
    using PtrType = T *;
};
template <class T> struct RestrictPtrTraits {
    using PtrType = T *__restrict__;
};

/* a[i][j], whatever the layout. Valid while the tensor lives; indices are not checked. */
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;
    C10_HOST_DEVICE TensorAccessor(PtrType data, const Index *sizes, const Index *strides)
        : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    C10_HOST_DEVICE Index size(Index d) const { return sizes_[d]; }
    C10_HOST_DEVICE Index stride(Index d) const { return strides_[d]; }
    C10_HOST c10::ArrayRef<Index> sizes() const { return {sizes_, N}; }
    C10_HOST c10::ArrayRef<Index> strides() const { return {strides_, N}; }
    C10_HOST_DEVICE PtrType data() const { return data_; }
    C10_HOST_DEVICE decltype(auto) operator[](Index i) const
    {
        if constexpr (N == 1) return (data_[strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1,
                                                           strides_ + 1);
    }

private:
    PtrType data_;
    const Index *sizes_, *strides_;
};

/* The same with sizes and strides of its own, for kernels, which cannot follow the host's. */
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = int64_t>
class GenericPackedTensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;
    GenericPackedTensorAccessor(PtrType data, const int64_t *sizes, const int64_t *strides)
        : data_(data)
    {
        for (size_t d = 0; d < N; d++) sizes_[d] = Index(sizes[d]), strides_[d] = Index(strides[d]);
    }
    C10_HOST_DEVICE Index size(Index d) const { return sizes_[d]; }
    C10_HOST_DEVICE Index stride(Index d) const { return strides_[d]; }
    C10_HOST_DEVICE PtrType data() const { return data_; }
    C10_HOST_DEVICE decltype(auto) operator[](Index i) const
    {
        if constexpr (N == 1) return (data_[strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1,
                                                           strides_ + 1);
    }

private:
    PtrType data_;
    Index sizes_[N], strides_[N];
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;

}
#endif
