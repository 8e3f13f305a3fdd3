/* taeda_torch/array.hpp - lists that are borrowed, and values that may be missing. */
#ifndef TAEDA_TORCH_ARRAY_HPP
#define TAEDA_TORCH_ARRAY_HPP
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <vector>

#include "taeda_torch/error.hpp"

namespace c10 TAEDA_HIDDEN {

template <class T> using optional = std::optional<T>;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using string_view = std::string_view;

/* Elements that somebody else keeps; valid as long as those live. */
template <class T> class ArrayRef {
public:
    using value_type = T;
    using iterator = const T *;
    using const_iterator = const T *;
    constexpr ArrayRef() = default;
    constexpr ArrayRef(const T &one) : first_(&one), count_(1) {}
    constexpr ArrayRef(const T *first, size_t count) : first_(first), count_(count) {}
    constexpr ArrayRef(const T *first, const T *end) : first_(first), count_(size_t(end - first)) {}
    template <class A>
    ArrayRef(const std::vector<T, A> &list) : first_(list.data()), count_(list.size())
    {
    }
    template <size_t N>
    constexpr ArrayRef(const std::array<T, N> &list) : first_(list.data()), count_(N)
    {
    }
    template <size_t N> constexpr ArrayRef(const T (&list)[N]) : first_(list), count_(N) {}
    /* Lives until the end of the full expression, as the list does. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
    constexpr ArrayRef(const std::initializer_list<T> &list)
        : first_(list.begin() == list.end() ? nullptr : list.begin()), count_(list.size())
    {
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

    constexpr const T *begin() const { return first_; }
    constexpr const T *end() const { return first_ + count_; }
    constexpr const T *data() const { return first_; }
    constexpr size_t size() const { return count_; }
    constexpr bool empty() const { return count_ == 0; }
    const T &front() const { return at(0); }
    const T &back() const { return at(count_ - 1); }
    constexpr const T &operator[](size_t i) const { return first_[i]; }
    const T &at(size_t i) const
    {
        TORCH_CHECK_INDEX(i < count_, "ArrayRef: index ", i, " of ", count_, " elements");
        return first_[i];
    }
    ArrayRef slice(size_t from, size_t count) const
    {
        TORCH_CHECK_INDEX(from + count <= count_, "ArrayRef: slice ", from, " to ", from + count,
                          " of ", count_, " elements");
        return {first_ + from, count};
    }
    ArrayRef slice(size_t from) const { return slice(from, count_ - std::min(from, count_)); }
    bool equals(ArrayRef other) const
    {
        return count_ == other.count_ && std::equal(begin(), end(), other.begin());
    }
    std::vector<T> vec() const { return {begin(), end()}; }
    explicit operator std::vector<T>() const { return vec(); }

private:
    const T *first_ = nullptr;
    size_t count_ = 0;
};
template <class T> bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T> bool operator!=(ArrayRef<T> a, ArrayRef<T> b) { return !a.equals(b); }
template <class T> bool operator==(const std::vector<T> &a, ArrayRef<T> b)
{
    return ArrayRef<T>(a).equals(b);
}
template <class T> bool operator==(ArrayRef<T> a, const std::vector<T> &b) { return a.equals(b); }
template <class T> bool operator!=(const std::vector<T> &a, ArrayRef<T> b)
{
    return !ArrayRef<T>(a).equals(b);
}
template <class T> bool operator!=(ArrayRef<T> a, const std::vector<T> &b) { return !a.equals(b); }
template <class T> std::ostream &operator<<(std::ostream &out, ArrayRef<T> list)
{
    out << "[";
    for (size_t i = 0; i < list.size(); i++) out << (i ? ", " : "") << list[i];
    return out << "]";
}

using IntArrayRef = ArrayRef<int64_t>;
using SymInt = int64_t; /* no size is symbolic while C++ runs */
using SymIntArrayRef = IntArrayRef;
template <class T, unsigned N = 6> using SmallVector = std::vector<T>;
using DimVector = std::vector<int64_t>;

/* A list, or none. Also made of what a list is made of. */
template <class T> class OptionalArrayRef {
public:
    OptionalArrayRef() = default;
    OptionalArrayRef(nullopt_t) {}
    OptionalArrayRef(ArrayRef<T> list) : list_(list) {}
    OptionalArrayRef(const T &one) : list_(one) {}
    OptionalArrayRef(const std::vector<T> &list) : list_(list) {}
    OptionalArrayRef(const std::initializer_list<T> &list) : list_(ArrayRef<T>(list)) {}
    OptionalArrayRef(const std::optional<ArrayRef<T>> &list) : list_(list) {}
    OptionalArrayRef(const std::optional<std::vector<T>> &list)
    {
        if (list) list_ = ArrayRef<T>(*list);
    }
    bool has_value() const { return list_.has_value(); }
    explicit operator bool() const { return has_value(); }
    const ArrayRef<T> &value() const { return list_.value(); }
    const ArrayRef<T> &operator*() const { return *list_; }
    const ArrayRef<T> *operator->() const { return &*list_; }

private:
    std::optional<ArrayRef<T>> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
using OptionalSymIntArrayRef = OptionalIntArrayRef;

/* for (auto i : c10::irange(n)) */
template <class T> class Range {
public:
    class Step {
    public:
        explicit Step(T at) : at_(at) {}
        T operator*() const { return at_; }
        Step &operator++() { return ++at_, *this; }
        bool operator!=(const Step &o) const { return at_ != o.at_; }

    private:
        T at_;
    };
    Range(T from, T to) : from_(from), to_(std::max(from, to)) {}
    Step begin() const { return Step(from_); }
    Step end() const { return Step(to_); }

private:
    T from_, to_;
};
template <class T> Range<T> irange(T end) { return {T(0), end}; }
template <class A, class T> Range<T> irange(A begin, T end) { return {T(begin), end}; }

}
#endif
