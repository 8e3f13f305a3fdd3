/* taeda/layout.hpp - sizes and strides, and elements by index. */
#ifndef TAEDA_LAYOUT_HPP
#define TAEDA_LAYOUT_HPP
#include <cstring>
#include <vector>

#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

/* Sizes or strides: borrowed from a tensor, valid while one of its handles lives. */
class Dims {
public:
    Dims(const int64_t *first, int32_t count) : first_(first), count_(count) {}
    const int64_t *begin() const { return first_; }
    const int64_t *end() const { return first_ + count_; }
    size_t size() const { return size_t(count_); }
    int64_t operator[](size_t i) const { return first_[i]; }
    std::vector<int64_t> vec() const { return {begin(), end()}; }
    bool operator==(const Dims &o) const
    {
        return count_ == o.count_ &&
               (!count_ || !std::memcmp(first_, o.first_, sizeof(int64_t) * size()));
    }
    bool operator!=(const Dims &o) const { return !(*this == o); }

private:
    const int64_t *first_;
    int32_t count_;
};

/* "[2, 3]", for messages */
TAEDA_RARE inline std::string shape_text(Dims dims) { return detail::concat(dims); }
namespace detail {
inline void append(std::string &to, Dims dims) { append(to, dims.vec()); }
}

/* A strided view of the elements: a[i][j] as in C, whatever the layout. Valid while the tensor
 * lives. */
template <class T, int N> class Accessor {
public:
    Accessor(T *data, const int64_t *sizes, const int64_t *strides)
        : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    int64_t size(int d) const { return sizes_[d]; }
    decltype(auto) operator[](int64_t i) const
    {
        if constexpr (N == 1) return data_[i * strides_[0]];
        else return Accessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }

private:
    T *data_;
    const int64_t *sizes_, *strides_;
};

}
#endif
