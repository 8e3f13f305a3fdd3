/* taeda/taeda.hpp - C++17 over the table of taeda/abi.h. Header only: nothing to link with, no Python.
 *
 *     #include <taeda/taeda.hpp>
 *
 *     taeda::Tensor scale(taeda::Tensor x, double factor)
 *     {
 *         x = x.contiguous();
 *         taeda::Tensor y = taeda::empty_like(x);
 *         const float *in = x.data<float>();
 *         float *out = y.mutable_data<float>();
 *         taeda::parallel_for(0, x.numel(), 4096, [&](int64_t begin, int64_t end) {
 *             for (int64_t i = begin; i < end; i++) out[i] = float(factor) * in[i];
 *         });
 *         return y;
 *     }
 *
 *     TAEDA_EXTENSION(m)
 *     {
 *         m.def("scale(Tensor x, float factor=2) -> Tensor", scale, "factor times x");
 *     }
 *
 * A bound function is an operator of the core's table. Its arguments may be Tensor, double, float, int64_t, int, bool,
 * std::string, DType, std::vector of Tensor, int64_t, double or bool, and std::optional of the single ones; its results
 * Tensor, std::tuple of Tensor, void, or one double, int64_t or bool. Errors are exceptions; the boundary turns each into
 * the Python exception of its name. One that leaves the body of parallel_for reaches the caller of parallel_for.
 *
 * The compiled library uses only C functions of the table, so it does not care which compiler or C++ library the core,
 * or another extension, was built with. Everything here is hidden: two extensions in one process share nothing. */
#ifndef TAEDA_TAEDA_HPP
#define TAEDA_TAEDA_HPP
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/abi.h"
#ifdef TAEDA_WITH_CUDA
#include <cuda_runtime_api.h>
extern "C" __attribute__((weak, visibility("hidden"))) int taeda_cuda_launch_error(void); /* cuda_launch.c, linked in by the toolkit */
#endif

static_assert(TAEDA_ABI >= TAEDA_ABI_OF(1, 1), "taeda.hpp needs the header abi.h of 1.1");

#define TAEDA_RARE __attribute__((cold, noinline)) /* runs once, or in an error: compiled for size, and sooner */
#define TAEDA_EXPORT extern "C" __attribute__((visibility("default")))

namespace taeda __attribute__((visibility("hidden"))) {

/* ---- the table ---- */
namespace detail {
inline const taeda_api *table = nullptr;
}
/* The core's functions; set when the extension is loaded. */
inline const taeda_api &api() { return *detail::table; }

/* ---- errors ---- */
/* The base of all below, and what becomes RuntimeError. */
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &message, int32_t code = TAEDA_RUNTIME_ERROR) : std::runtime_error(message), code_(code) {}
    int32_t code() const { return code_; }

private:
    int32_t code_;
};
class TypeError : public Error {
public:
    explicit TypeError(const std::string &message) : Error(message, TAEDA_TYPE_ERROR) {}
};
class ValueError : public Error {
public:
    explicit ValueError(const std::string &message) : Error(message, TAEDA_VALUE_ERROR) {}
};
class IndexError : public Error {
public:
    explicit IndexError(const std::string &message) : Error(message, TAEDA_INDEX_ERROR) {}
};
class NotImplementedError : public Error {
public:
    explicit NotImplementedError(const std::string &message) : Error(message, TAEDA_NOT_IMPLEMENTED) {}
};

namespace detail {
TAEDA_RARE inline void append(std::string &to, const char *s) { to += s; }
TAEDA_RARE inline void append(std::string &to, const std::string &s) { to += s; }
TAEDA_RARE inline void append(std::string &to, bool b) { to += b ? "true" : "false"; }
TAEDA_RARE inline void append(std::string &to, double v) { to += std::to_string(v); }
TAEDA_RARE inline void append(std::string &to, long long v) { to += std::to_string(v); }
template <class T> std::enable_if_t<std::is_integral_v<T>> append(std::string &to, T v) { append(to, static_cast<long long>(v)); }
template <class... Parts> TAEDA_RARE std::string concat(const Parts &...parts)
{
    std::string made;
    (append(made, parts), ...);
    return made;
}

[[noreturn]] TAEDA_RARE inline void fail(int32_t code, const taeda_error &error) { throw Error(error.message, code); }
inline void check(int32_t code, const taeda_error &error)
{
    if (code) fail(code, error);
}
}

/* Throw Error, with a message made of the further arguments (texts and numbers), unless `condition` holds. */
#define TAEDA_CHECK(condition, ...) \
    do { \
        if (!(condition)) throw ::taeda::Error(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)
#ifdef TAEDA_WITH_CUDA
namespace cuda {
/* Throw if a function of the CUDA runtime failed; `what` says which. */
inline void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    cudaGetLastError(); /* reported here, so not again by who asks next */
    bool missing = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    throw Error(taeda::detail::concat(what, ": ", cudaGetErrorString(error),
                                      missing ? "; this function runs a CUDA kernel, which needs an NVIDIA device and its driver" : ""));
}
}
#endif
#define TAEDA_CHECK_TYPE(condition, ...) \
    do { \
        if (!(condition)) throw ::taeda::TypeError(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)
#define TAEDA_CHECK_VALUE(condition, ...) \
    do { \
        if (!(condition)) throw ::taeda::ValueError(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)

/* ---- dtypes ---- */
using DType = taeda_dtype;
/* The C++ type of half and bfloat16 elements: bits, without arithmetic. */
struct Half { uint16_t bits; };
struct BFloat16 { uint16_t bits; };

namespace detail {
template <class T> struct DTypeOf;
#define TAEDA_DTYPE(type, value) template <> struct DTypeOf<type> { static constexpr DType dtype = value; };
TAEDA_DTYPE(bool, TAEDA_BOOL)
TAEDA_DTYPE(uint8_t, TAEDA_UINT8)
TAEDA_DTYPE(int8_t, TAEDA_INT8)
TAEDA_DTYPE(int16_t, TAEDA_INT16)
TAEDA_DTYPE(int32_t, TAEDA_INT32)
TAEDA_DTYPE(int64_t, TAEDA_INT64)
TAEDA_DTYPE(uint16_t, TAEDA_UINT16)
TAEDA_DTYPE(uint32_t, TAEDA_UINT32)
TAEDA_DTYPE(uint64_t, TAEDA_UINT64)
TAEDA_DTYPE(Half, TAEDA_FLOAT16)
TAEDA_DTYPE(BFloat16, TAEDA_BFLOAT16)
TAEDA_DTYPE(float, TAEDA_FLOAT32)
TAEDA_DTYPE(double, TAEDA_FLOAT64)
#undef TAEDA_DTYPE
}
template <class T> inline constexpr DType dtype_of = detail::DTypeOf<T>::dtype;

TAEDA_RARE inline taeda_dtype_facts facts_of(DType dtype)
{
    taeda_dtype_facts facts{};
    taeda_error error{};
    facts.size = sizeof facts;
    detail::check(api().dtype_facts(dtype, &facts, &error), error);
    return facts;
}
inline const char *name_of(DType dtype) { return facts_of(dtype).name; } /* "float32" */
inline bool is_floating_point(DType dtype) { return facts_of(dtype).category == TAEDA_CATEGORY_FLOAT; }
/* The dtype that values of both fit in. */
inline DType promote(DType a, DType b)
{
    int32_t made;
    taeda_error error{};
    detail::check(api().promote_dtypes(a, b, &made, &error), error);
    return DType(made);
}
inline DType default_dtype() { return DType(api().default_dtype()); }

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
        return count_ == o.count_ && (!count_ || !std::memcmp(first_, o.first_, sizeof(int64_t) * size()));
    }
    bool operator!=(const Dims &o) const { return !(*this == o); }

private:
    const int64_t *first_;
    int32_t count_;
};

/* "[2, 3]", for messages */
TAEDA_RARE inline std::string shape_text(Dims dims)
{
    std::string made = "[";
    for (size_t i = 0; i < dims.size(); i++) made += detail::concat(i ? ", " : "", dims[i]);
    return made + "]";
}

/* A strided view of the elements: a[i][j] as in C, whatever the layout. Valid while the tensor lives. */
template <class T, int N> class Accessor {
public:
    Accessor(T *data, const int64_t *sizes, const int64_t *strides) : data_(data), sizes_(sizes), strides_(strides) {}
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

/* ---- the tensor ---- */
namespace detail {
/* What the handles of one tensor share. An argument is borrowed from the core until its call ends; a handle that
 * outlives the call gets a tensor of its own then, so that keeping one is safe. */
struct Box {
    taeda_tensor *tensor;
    bool owned;
    std::atomic<int> handles{1};
    taeda_facts facts;

    Box(taeda_tensor *t, bool own) : tensor(t), owned(own) { ask(); }
    ~Box()
    {
        if (owned) api().release(tensor);
    }
    void ask()
    {
        facts.size = sizeof facts;
        api().facts(tensor, &facts);
    }
};
}

/* A handle on a tensor, copied by value as a pointer is: copies stand for the same tensor. */
class Tensor {
public:
    Tensor() = default; /* stands for nothing: defined() is false */
    Tensor(const Tensor &o) : box_(o.box_) { keep(); }
    Tensor(Tensor &&o) noexcept : box_(std::exchange(o.box_, nullptr)) {}
    Tensor &operator=(Tensor o) noexcept
    {
        std::swap(box_, o.box_);
        return *this;
    }
    ~Tensor() { drop(); }
    /* Take over a tensor that the table made. */
    static Tensor adopt(taeda_tensor *made) { return Tensor(made, true); }

    bool defined() const { return box_ != nullptr; }
    DType dtype() const { return DType(facts().dtype); }
    int64_t dim() const { return facts().ndim; }
    int64_t numel() const { return facts().numel; }
    int64_t element_size() const { return facts().itemsize; }
    Dims sizes() const { return {facts().sizes, facts().ndim}; }
    Dims strides() const { return {facts().strides, facts().ndim}; } /* in elements */
    int64_t size(int64_t d) const { return facts().sizes[wrapped(d)]; } /* negative counts from the end */
    int64_t stride(int64_t d) const { return facts().strides[wrapped(d)]; }
    bool is_argument() const { return !box().owned; } /* is it one of the running call's? */
    bool is_meta() const { return !facts().on_cpu; } /* shape without memory */

    bool is_contiguous() const { return facts().is_contiguous; } /* are the elements in row-major order without gaps? */
    /* This tensor if it is row-major, else a copy that is. */
    Tensor contiguous() const { return is_contiguous() ? *this : row_major(); }
    /* A tensor on this one's memory; strides and offset count elements. ValueError for what lies outside. */
    Tensor as_strided(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides, int64_t offset = 0) const
    {
        TAEDA_CHECK_VALUE(sizes.size() == strides.size(), "as_strided: ", sizes.size(), " sizes and ", strides.size(), " strides");
        return adopt(viewed(int32_t(sizes.size()), sizes.data(), strides.data(), offset));
    }
    /* Another tensor on the same memory. */
    Tensor alias() const { return adopt(viewed(facts().ndim, facts().sizes, facts().strides, 0)); }

    /* The first element, for reading; TypeError unless the elements are of type T. NULL on meta and for empty tensors. */
    template <class T> const T *data() const { return static_cast<const T *>(memory(dtype_of<T>)); }
    /* The same for writing: to tensors made here, or to arguments that the operator is declared to change. */
    template <class T> T *mutable_data() { return static_cast<T *>(memory(dtype_of<T>)); }
    const void *raw_data() const { return facts().data; }
    void *raw_mutable_data() { return facts().data; }
    template <class T, int N> Accessor<const T, N> accessor() const { return {data<T>(), strided(N), facts().strides}; }
    template <class T, int N> Accessor<T, N> mutable_accessor() { return {mutable_data<T>(), strided(N), facts().strides}; }
    /* The only element, converted; for tensors of one element. */
    template <class T> T item() const;

    const taeda_tensor *get() const { return box().tensor; }
    /* Hand the tensor to the core, which owns it from here on. */
    taeda_tensor *release() const;

private:
    friend class Borrowed;
    Tensor(taeda_tensor *t, bool owned) : box_(new detail::Box(t, owned)) {}

    taeda_tensor *viewed(int32_t ndim, const int64_t *sizes, const int64_t *strides, int64_t offset) const
    {
        taeda_tensor *made;
        taeda_error error{};
        detail::check(api().view(get(), ndim, sizes, strides, offset, &made, &error), error);
        return made;
    }
    detail::Box &box() const
    {
        if (!box_) undefined();
        return *box_;
    }
    const taeda_facts &facts() const { return box().facts; }
    void keep() const
    {
        if (box_) box_->handles.fetch_add(1, std::memory_order_relaxed);
    }
    void drop()
    {
        if (box_ && box_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box_;
    }
    int64_t wrapped(int64_t d) const
    {
        int64_t n = dim();
        if (d < -n || d >= n) no_dimension(d);
        return d < 0 ? d + n : d;
    }
    void *memory(DType wanted) const
    {
        if (wanted != dtype() || (is_meta() && numel())) no_memory(wanted);
        return facts().data;
    }
    [[noreturn]] TAEDA_RARE void no_memory(DType wanted) const
    {
        if (wanted == dtype()) throw NotImplementedError("a meta tensor has a shape and no memory");
        throw TypeError(detail::concat("wanted a ", name_of(wanted), " tensor, got ", name_of(dtype())));
    }
    [[noreturn]] TAEDA_RARE void no_dimension(int64_t d) const
    {
        throw IndexError(detail::concat("dimension ", d, " of a tensor with ", dim(), " dimensions"));
    }
    [[noreturn]] TAEDA_RARE static void undefined()
    {
        throw ValueError("this Tensor stands for nothing: it was made without a value, or moved from");
    }
    const int64_t *strided(int64_t n) const
    {
        if (n != dim()) throw ValueError(detail::concat("wanted a tensor with ", n, " dimensions, got shape ", shape_text(sizes())));
        return facts().sizes;
    }
    Tensor row_major() const
    {
        taeda_tensor *made;
        taeda_error error{};
        detail::check(api().contiguous(get(), &made, &error), error);
        return adopt(made);
    }

    detail::Box *box_ = nullptr;
};

/* ---- making tensors: row-major, on the cpu unless `meta` ---- */
inline Tensor empty(const int64_t *sizes, int32_t ndim, DType dtype, bool meta)
{
    taeda_tensor *made;
    taeda_error error{};
    detail::check(api().empty(dtype, ndim, sizes, !meta, &made, &error), error);
    return Tensor::adopt(made);
}
inline Tensor empty(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32, bool meta = false)
{
    return empty(sizes.data(), int32_t(sizes.size()), dtype, meta);
}
/* Shape of `x`, and its dtype and place unless given; the elements are unset. */
inline Tensor empty_like(const Tensor &x) { return empty(x.sizes().begin(), int32_t(x.dim()), x.dtype(), x.is_meta()); }
inline Tensor empty_like(const Tensor &x, DType dtype) { return empty(x.sizes().begin(), int32_t(x.dim()), dtype, x.is_meta()); }
inline Tensor zeroed(Tensor x)
{
    if (x.raw_mutable_data()) std::memset(x.raw_mutable_data(), 0, size_t(x.numel() * x.element_size()));
    return x;
}
inline Tensor zeros(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32) { return zeroed(empty(sizes, dtype)); }
inline Tensor zeros_like(const Tensor &x) { return zeroed(empty_like(x)); }
template <class T> Tensor full(const std::vector<int64_t> &sizes, T value)
{
    Tensor made = empty(sizes, dtype_of<T>);
    T *data = made.mutable_data<T>();
    for (int64_t i = 0, n = made.numel(); i < n; i++) data[i] = value;
    return made;
}
template <class T> Tensor tensor(const std::vector<T> &values)
{
    Tensor made = empty({int64_t(values.size())}, dtype_of<T>);
    T *data = made.mutable_data<T>();
    for (size_t i = 0; i < values.size(); i++) data[i] = values[i];
    return made;
}
template <class T> Tensor scalar(T value)
{
    Tensor made = empty({}, dtype_of<T>);
    *made.mutable_data<T>() = value;
    return made;
}

/* ---- choosing code by dtype ---- */
namespace detail {
template <class First, class... Rest, class F> decltype(auto) pick(const Tensor &x, const char *what, F &&f)
{
    if (x.dtype() == dtype_of<First>) return f(First{});
    if constexpr (sizeof...(Rest) > 0) return pick<Rest...>(x, what, std::forward<F>(f));
    else throw TypeError(concat(what, ": ", name_of(x.dtype()), " is not supported"));
}
}
/* Call `f` with a zero of x's element type, if that is one of Types; TypeError otherwise:
 *     dispatch<float, double>(x, "scale", [&](auto zero) { using T = decltype(zero); ... }); */
template <class... Types, class F> decltype(auto) dispatch(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<Types...>(x, what, std::forward<F>(f));
}
template <class F> decltype(auto) dispatch_floating(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<float, double>(x, what, std::forward<F>(f));
}

template <class T> T Tensor::item() const
{
    if (numel() != 1 || !facts().data) throw ValueError(detail::concat("item: wanted one element, got shape ", shape_text(sizes())));
    return dispatch<double, float, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(
        *this, "item", [&](auto zero) { return T(*static_cast<const decltype(zero) *>(facts().data)); });
}

/* ---- threads ---- */
namespace detail {
template <class F> struct Loop {
    F &body;
    int64_t first;
    Loop(F &f, int64_t begin) : body(f), first(begin) {}
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    std::exception_ptr thrown; /* the first; the core's end of the loop orders it before whoever reads */

    static void run(void *context, int64_t begin, int64_t end)
    {
        Loop &loop = *static_cast<Loop *>(context);
        try {
            loop.body(loop.first + begin, loop.first + end);
        } catch (...) {
            if (!loop.failed.test_and_set()) loop.thrown = std::current_exception();
        }
    }
};
}
/* Run body(begin, end) over [begin, end) on the core's threads, in pieces of at least `grain`. The body may read and
 * write data, and throw; it may make no tensors. */
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, F &&body)
{
    if (begin >= end) return;
    detail::Loop<std::remove_reference_t<F>> loop{body, begin};
    api().parallel_for(end - begin, grain, decltype(loop)::run, &loop);
    if (loop.thrown) std::rethrow_exception(loop.thrown);
}

/* ---- operators of the core, and of other extensions ---- */
/* A value on its way to an operator; it borrows what it is made of, which lives until the call's full expression ends. */
class Value {
public:
    Value(const Tensor &x) : value_{TAEDA_KIND_TENSOR, 0, 0, {}} { value_.as.tensor = const_cast<taeda_tensor *>(x.get()); }
    Value(bool v) : value_{TAEDA_KIND_BOOL, 0, 0, {}} { value_.as.integer = v; }
    Value(int v) : Value(int64_t(v)) {}
    Value(int64_t v) : value_{TAEDA_KIND_INT, 0, 0, {}} { value_.as.integer = v; }
    Value(double v) : value_{TAEDA_KIND_FLOAT, 0, 0, {}} { value_.as.real = v; }
    Value(DType v) : value_{TAEDA_KIND_DTYPE, 0, 0, {}} { value_.as.integer = v; }
    Value(const char *v) : value_{TAEDA_KIND_STRING, 0, 0, {}} { value_.as.string = v; }
    Value(const std::vector<int64_t> &v) : value_{TAEDA_KIND_INTS, 0, int64_t(v.size()), {}} { value_.as.integers = v.data(); }
    Value(const std::vector<Tensor> &v) : value_{TAEDA_KIND_TENSORS, 0, int64_t(v.size()), {}}
    {
        for (const Tensor &x : v) list_.push_back(x.defined() ? const_cast<taeda_tensor *>(x.get()) : nullptr);
        value_.as.tensors = list_.data();
    }
    Value(std::nullopt_t) : value_{TAEDA_KIND_NONE, 0, 0, {}} {} /* None, or the default */
    const taeda_value &get() const { return value_; }

private:
    taeda_value value_;
    std::vector<taeda_tensor *> list_;
};

/* An operator by name ("sum", "add.Tensor", "mylib::scale"); found when it is made, so keep it: static Operator sum("sum"); */
class Operator {
public:
    explicit Operator(const char *name)
    {
        taeda_error error{};
        detail::check(api().find_op(name, &op_, &error), error);
    }
    /* Call it with arguments in the order of its schema; later ones take their defaults. Records no derivative. */
    template <class... A> std::vector<Tensor> results(const A &...arguments) const
    {
        const Value values[] = {Value(arguments)...};
        taeda_value plain[sizeof...(A)], made[capacity];
        for (size_t i = 0; i < sizeof...(A); i++) plain[i] = values[i].get();
        taeda_error error{};
        taeda_op_call call{sizeof call, int32_t(sizeof...(A)), op_, plain, made, capacity, 0, &error};
        detail::check(api().call_op(&call), error);
        std::vector<Tensor> list;
        for (int32_t i = 0; i < call.result_count; i++) {
            if (made[i].kind != TAEDA_KIND_TENSOR) throw TypeError("an operator whose result is no Tensor is called through the table");
            list.push_back(Tensor::adopt(made[i].as.tensor));
        }
        return list;
    }
    /* The same for operators with one result. */
    template <class... A> Tensor operator()(const A &...arguments) const { return std::move(results(arguments...).at(0)); }

private:
    static constexpr int32_t capacity = 16;
    const taeda_op *op_;
};
/* call("relu", x): looks the name up each time. */
template <class... A> Tensor call(const char *name, const A &...arguments) { return Operator(name)(arguments...); }

/* ---- the boundary ---- */
/* An argument of a running call. */
class Borrowed {
public:
    explicit Borrowed(const taeda_tensor *t) : tensor_(const_cast<taeda_tensor *>(t), false) {}
    Borrowed(Borrowed &&) = default;
    ~Borrowed()
    {
        if (tensor_.box_ && tensor_.box_->handles.load(std::memory_order_acquire) > 1) outlive();
    }
    const Tensor &operator*() const { return tensor_; }

private:
    void outlive() noexcept /* somebody kept a handle: give it a tensor of its own. Ends the process if memory is out */
    {
        detail::Box &box = *tensor_.box_;
        box.tensor = tensor_.viewed(box.facts.ndim, box.facts.sizes, box.facts.strides, 0);
        box.owned = true;
        box.ask();
    }
    Tensor tensor_;
};

inline taeda_tensor *Tensor::release() const
{
    detail::Box &b = box();
    if (!b.owned || b.handles.load(std::memory_order_acquire) > 1) /* shared with somebody, or an argument */
        return viewed(b.facts.ndim, b.facts.sizes, b.facts.strides, 0);
    b.owned = false;
    return b.tensor;
}

namespace detail {
/* How a value crosses: the name of its type in schemas, and how it is read. */
template <class T> struct Argument {
    static_assert(sizeof(T) == 0, "this type cannot be an argument of a bound function: the top of taeda.hpp lists those that can");
};
template <> struct Argument<Tensor> {
    static constexpr const char *schema = "Tensor";
    Borrowed borrowed;
    explicit Argument(const taeda_value &v) : borrowed(v.as.tensor) {}
    const Tensor &get() const { return *borrowed; }
};
template <> struct Argument<std::vector<Tensor>> {
    static constexpr const char *schema = "Tensor[]";
    std::vector<Borrowed> borrowed;
    std::vector<Tensor> list;
    explicit Argument(const taeda_value &v)
    {
        borrowed.reserve(size_t(v.count));
        for (int64_t i = 0; i < v.count; i++) {
            if (v.as.tensors[i]) borrowed.emplace_back(v.as.tensors[i]);
            list.push_back(v.as.tensors[i] ? *borrowed.back() : Tensor());
        }
    }
    Argument(Argument &&) = default;
    ~Argument() { list.clear(); } /* before the borrowed, which look whether a handle is left */
    const std::vector<Tensor> &get() const { return list; }
};
template <class T> struct Plain {
    T value;
    const T &get() const { return value; }
};
inline double real(const taeda_value &v) { return v.kind == TAEDA_KIND_FLOAT ? v.as.real : double(v.as.integer); }
#define TAEDA_ARGUMENT(type, name, expression) \
    template <> struct Argument<type> : Plain<type> { \
        static constexpr const char *schema = name; \
        explicit Argument(const taeda_value &v) : Plain<type>{expression} {} \
    };
TAEDA_ARGUMENT(double, "float", real(v))
TAEDA_ARGUMENT(float, "float", float(real(v)))
TAEDA_ARGUMENT(int64_t, "int", v.as.integer)
TAEDA_ARGUMENT(bool, "bool", v.as.integer != 0)
TAEDA_ARGUMENT(DType, "ScalarType", DType(v.as.integer))
TAEDA_ARGUMENT(std::string, "str", v.as.string)
TAEDA_ARGUMENT(std::vector<double>, "float[]", std::vector<double>(v.as.reals, v.as.reals + v.count))
TAEDA_ARGUMENT(std::vector<int64_t>, "int[]", std::vector<int64_t>(v.as.integers, v.as.integers + v.count))
TAEDA_ARGUMENT(std::vector<bool>, "bool[]", std::vector<bool>(v.as.integers, v.as.integers + v.count))
#undef TAEDA_ARGUMENT
template <> struct Argument<int> : Plain<int> {
    static constexpr const char *schema = "int";
    explicit Argument(const taeda_value &v) : Plain<int>{int(v.as.integer)}
    {
        if (value != v.as.integer) throw ValueError(concat(v.as.integer, " does not fit into 32 bits"));
    }
};
template <class T> struct Argument<std::optional<T>> {
    static inline const std::string name = std::string(Argument<T>::schema) + "?";
    static inline const char *schema = name.c_str();
    std::optional<Argument<T>> held;
    std::optional<T> value;
    explicit Argument(const taeda_value &v)
    {
        if (v.kind == TAEDA_KIND_NONE) return;
        held.emplace(v);
        value = held->get();
    }
    Argument(Argument &&) = default;
    ~Argument() { value.reset(); }
    const std::optional<T> &get() const { return value; }
};

TAEDA_RARE inline taeda_tensor *copy_of(const Tensor &x) { return call("clone", x).release(); }
/* A result may not share memory with an argument: who returns one gives a copy. */
inline taeda_tensor *hand_over(const Tensor &x) { return x.is_argument() ? copy_of(x) : x.release(); }

/* How a result crosses. `number` says what Python makes of a tensor of one element. */
template <class R> struct Result {
    static_assert(sizeof(R) == 0, "this type cannot be a result of a bound function: the top of taeda.hpp lists those that can");
};
template <> struct Result<Tensor> {
    static constexpr const char *number = "";
    static std::string schema() { return "Tensor"; }
    static void store(const Tensor &made, taeda_tensor **outputs) { outputs[0] = hand_over(made); }
};
template <class... T> struct Result<std::tuple<T...>> {
    static_assert((std::is_same_v<T, Tensor> && ...), "a std::tuple of results holds Tensors");
    static constexpr const char *number = "";
    static std::string schema()
    {
        std::string made;
        for (size_t i = 0; i < sizeof...(T); i++) made += i ? ", Tensor" : "(Tensor";
        return made + ")";
    }
    static void store(const std::tuple<T...> &made, taeda_tensor **outputs)
    {
        /* One that stands for nothing is left out: a gradient that is not wanted. */
        std::apply([&](const auto &...one) { ((*outputs++ = one.defined() ? hand_over(one) : nullptr), ...); }, made);
    }
};
template <class T> struct NumberResult {
    static std::string schema() { return "Tensor"; }
    static void store(T made, taeda_tensor **outputs) { outputs[0] = scalar<T>(made).release(); }
};
template <> struct Result<double> : NumberResult<double> { static constexpr const char *number = "float"; };
template <> struct Result<int64_t> : NumberResult<int64_t> { static constexpr const char *number = "int"; };
template <> struct Result<bool> : NumberResult<bool> { static constexpr const char *number = "bool"; };

/* What is being thrown, as a code and a message. */
TAEDA_RARE inline int32_t translate(taeda_error *error)
{
    const taeda_api &t = api();
    try {
        throw;
    } catch (const Error &e) {
        return t.fail(error, e.code(), e.what());
    } catch (const std::bad_alloc &) {
        return t.fail(error, TAEDA_MEMORY_ERROR, "out of memory");
    } catch (const std::out_of_range &e) {
        return t.fail(error, TAEDA_INDEX_ERROR, e.what());
    } catch (const std::invalid_argument &e) {
        return t.fail(error, TAEDA_VALUE_ERROR, e.what());
    } catch (const std::exception &e) {
        return t.fail(error, TAEDA_RUNTIME_ERROR, e.what());
    } catch (...) {
        return t.fail(error, TAEDA_RUNTIME_ERROR, "the extension threw something that is no std::exception");
    }
}
template <class F> int32_t guarded(taeda_error *error, F &&body)
{
    try {
        body();
        return TAEDA_OK;
    } catch (...) {
        return translate(error);
    }
}

[[noreturn]] TAEDA_RARE inline void wrong_count(int64_t schema, int64_t function)
{
    throw TypeError(concat("the schema has ", schema, " arguments, the C++ function ", function));
}

/* The functions of one operator; lives as long as the library. */
struct Functions {
    void (*cpu)() = nullptr;
    void (*meta)() = nullptr;
    bool in_place = false; /* the results are arguments: nothing is handed over */
};

TAEDA_RARE inline std::string schema_text(const std::string &name, const char *const *types, const std::string &result)
{
    std::string made = name + "(";
    for (int i = 0; types[i]; i++) made += concat(i ? ", " : "", types[i], " arg", i);
    return made + ") -> " + result;
}

template <class R, class... A> struct Binding {
    using Function = R (*)(A...);

    static int32_t cpu(const taeda_call *call) { return run(*call, static_cast<Functions *>(call->user)->cpu); }
    static int32_t meta(const taeda_call *call) { return run(*call, static_cast<Functions *>(call->user)->meta); }
    static std::string schema(const std::string &name)
    {
        const char *types[] = {Argument<std::decay_t<A>>::schema..., nullptr};
        if constexpr (std::is_void_v<R>) return schema_text(name, types, "()");
        else return schema_text(name, types, Result<std::decay_t<R>>::schema());
    }
    static constexpr const char *number()
    {
        if constexpr (std::is_void_v<R>) return "";
        else return Result<std::decay_t<R>>::number;
    }

private:
    static int32_t run(const taeda_call &call, void (*function)())
    {
        return guarded(call.error, [&] { apply(call, reinterpret_cast<Function>(function), std::index_sequence_for<A...>{}); });
    }
    template <size_t... I> static void apply(const taeda_call &call, Function function, std::index_sequence<I...>)
    {
        if (call.arg_count != int32_t(sizeof...(A))) wrong_count(call.arg_count, sizeof...(A));
        [[maybe_unused]] std::tuple<Argument<std::decay_t<A>>...> arguments{Argument<std::decay_t<A>>(call.args[I])...};
        if constexpr (std::is_void_v<R>) {
            function(std::get<I>(arguments).get()...);
            launched();
        } else {
            auto made = function(std::get<I>(arguments).get()...);
            launched();
            if (!static_cast<Functions *>(call.user)->in_place) Result<std::decay_t<R>>::store(made, call.outputs);
        }
    }
    static void launched()
    {
#ifdef TAEDA_WITH_CUDA
        /* f<<<...>>>(...) reports a failure nowhere else */
        if (taeda_cuda_launch_error) cuda::check(cudaError_t(taeda_cuda_launch_error()), "a kernel was not launched");
#endif
    }
};
}

/* An operator that is being described. */
class Definition {
public:
    /* What runs on tensors without memory: a function of the same type that makes results of the right shape and dtype. */
    template <class R, class... A> Definition &meta(R (*function)(A...))
    {
        functions_->meta = reinterpret_cast<void (*)()>(function);
        kernels_.meta = detail::Binding<R, A...>::meta;
        return *this;
    }
    /* The operator that computes its derivative, bound in the same extension. Argument names of its schema say what it gets:
     * `grad`, arguments of this one by their names, `result`; it returns a gradient for each Tensor argument. A derivative
     * of a derivative takes what arrives as `Tensor?[] grads`, since `grad` is an argument there. The whole list is in
     * taeda/abi.h, taeda_derivative. */
    Definition &derivative(const std::string &backward)
    {
        backward_ = backward;
        return *this;
    }

private:
    friend class Module;
    std::string schema_, doc_, backward_;
    const char *number_ = "";
    detail::Functions *functions_ = nullptr;
    taeda_op_def kernels_{};
    Definition *next_ = nullptr;

    std::string name() const { return schema_.substr(0, schema_.find_first_of("(.")); }
    TAEDA_RARE void define(const std::string &space)
    {
        std::string schema = space + "::" + schema_;
        taeda_error error{};
        kernels_.size = sizeof kernels_;
        kernels_.schema = schema.c_str();
        kernels_.user = functions_;
        kernels_.doc = doc_.c_str();
        detail::check(api().define_op(&kernels_, &error), error);
    }
    TAEDA_RARE void derive(const std::string &space) const
    {
        if (backward_.empty()) return;
        std::string op = space + "::" + name(), backward = space + "::" + backward_;
        taeda_derivative made{};
        taeda_error error{};
        made.size = sizeof made;
        made.op = op.c_str();
        made.backward = backward.c_str();
        detail::check(api().define_derivative(&made, &error), error);
    }
};

/* What TAEDA_EXTENSION's body fills. */
class Module {
public:
    /* Bind `function`. `text` is a schema, "scale(Tensor x, float factor=2) -> Tensor", or a name alone: then the schema
     * follows from the function's type, and the arguments are called arg0, arg1, ... */
    template <class R, class... A> Definition &def(const std::string &text, R (*function)(A...), const std::string &doc = "")
    {
        using B = detail::Binding<R, A...>;
        return add(text.find('(') == std::string::npos ? B::schema(text) : text, doc, reinterpret_cast<void (*)()>(function), B::cpu, B::number());
    }
    /* Register what was bound under `space`; returns for each, for Python: its schema, and what the number is that it returns. */
    TAEDA_RARE std::string finish(const std::string &space)
    {
        std::string described;
        for (Definition *one = first_; one; one = one->next_) one->define(space);
        for (Definition *one = first_; one; one = one->next_) {
            one->derive(space);
            described += detail::concat(one->schema_, "\x1f", one->number_, "\x1e");
        }
        return described;
    }
    Module() = default;
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;
    ~Module()
    {
        while (first_) delete std::exchange(first_, first_->next_);
    }

private:
    TAEDA_RARE Definition &add(const std::string &schema, const std::string &doc, void (*function)(), taeda_kernel kernel, const char *number)
    {
        Definition *made = *last_ = new Definition;
        last_ = &made->next_;
        made->schema_ = schema;
        made->doc_ = doc;
        made->number_ = number;
        made->functions_ = new detail::Functions; /* for as long as the library is loaded, which is for ever */
        made->functions_->cpu = function;
        made->functions_->in_place = schema.find('!', schema.rfind("->")) != std::string::npos;
        made->kernels_.cpu = kernel;
        return *made;
    }
    Definition *first_ = nullptr, **last_ = &first_;
};

namespace detail {
inline std::string space, described, failure;

TAEDA_RARE inline int32_t start(const taeda_api *given, void (*fill)(Module &))
{
    table = given;
    taeda_error error{};
    int32_t code = guarded(&error, [&] {
        Module m;
        fill(m);
        described = m.finish(space);
    });
    if (code) failure = error.message;
    return code;
}
}
}

#ifndef TAEDA_EXTENSION_NAME
#define TAEDA_EXTENSION_NAME extension
#endif
#define TAEDA_TEXT_(x) #x
#define TAEDA_TEXT(x) TAEDA_TEXT_(x)

/* Defines what the core looks for in an extension; the body binds functions: TAEDA_EXTENSION(m) { m.def("f", f); }
 * The operators' namespace is TAEDA_EXTENSION_NAME, unless whoever loads the library sets another one first, as it does for a
 * second version of one extension in one process. */
#define TAEDA_EXTENSION(module) \
    static void taeda_extension_fill(::taeda::Module &); \
    TAEDA_EXPORT uint32_t taeda_ext_abi(void) { return TAEDA_ABI; } \
    TAEDA_EXPORT void taeda_ext_namespace(const char *name) { ::taeda::detail::space = name; } \
    TAEDA_EXPORT int32_t taeda_ext_init(const taeda_api *api) \
    { \
        if (::taeda::detail::space.empty()) ::taeda::detail::space = TAEDA_TEXT(TAEDA_EXTENSION_NAME); \
        return ::taeda::detail::start(api, taeda_extension_fill); \
    } \
    TAEDA_EXPORT const char *taeda_ext_functions(void) { return ::taeda::detail::described.c_str(); } \
    TAEDA_EXPORT const char *taeda_ext_failure(void) { return ::taeda::detail::failure.c_str(); } \
    static void taeda_extension_fill([[maybe_unused]] ::taeda::Module &module)
#endif
