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
 *     TAEDA_EXTENSION(m) { m.def("scale", scale, "factor times x"); }
 *
 * Arguments of bound functions: Tensor, double, float, int64_t, int, bool, std::string; results: Tensor, or a
 * std::tuple of Tensors. Errors are exceptions; the boundary turns each into the Python exception of its name. An
 * exception that leaves the body of parallel_for reaches the caller of parallel_for.
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
inline std::string text(const char *s) { return s; }
inline std::string text(const std::string &s) { return s; }
inline std::string text(bool b) { return b ? "true" : "false"; }
template <class T> std::enable_if_t<std::is_arithmetic_v<T>, std::string> text(T v) { return std::to_string(v); }
template <class... Parts> std::string concat(const Parts &...parts) { return (std::string() + ... + text(parts)); }

inline void check(int32_t code, const taeda_error &error)
{
    if (code) throw Error(error.message, code);
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

inline const char *name_of(DType dtype)
{
    static constexpr const char *names[] = {
        "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
        "float32", "float64", "complex32", "complex64", "complex128"};
    return dtype >= 0 && dtype <= TAEDA_COMPLEX128 ? names[dtype] : "a dtype that this header does not know";
}
inline int64_t size_of(DType dtype)
{
    static constexpr int8_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 4, 8, 16};
    if (dtype < 0 || dtype > TAEDA_COMPLEX128) throw NotImplementedError(name_of(dtype));
    return sizes[dtype];
}

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
inline std::string shape_text(Dims dims)
{
    std::string made = "[";
    for (size_t i = 0; i < dims.size(); i++) made += (i ? ", " : "") + std::to_string(dims[i]);
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
    int64_t element_size() const { return size_of(dtype()); }
    Dims sizes() const { return {facts().sizes, facts().ndim}; }
    Dims strides() const { return {facts().strides, facts().ndim}; } /* in elements */
    int64_t size(int64_t d) const { return facts().sizes[wrapped(d)]; } /* negative counts from the end */
    int64_t stride(int64_t d) const { return facts().strides[wrapped(d)]; }
    bool is_meta() const { return !facts().on_cpu; } /* shape without memory */

    /* Are the elements in row-major order without gaps? */
    bool is_contiguous() const
    {
        int64_t step = 1;
        for (int64_t d = dim() - 1; d >= 0; d--) {
            if (facts().sizes[d] != 1 && facts().strides[d] != step) return numel() == 0;
            step *= facts().sizes[d];
        }
        return true;
    }
    /* This tensor if it is row-major, else a copy that is. */
    Tensor contiguous() const { return is_contiguous() ? *this : row_major(); }

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

    detail::Box &box() const
    {
        if (!box_) throw ValueError("this Tensor stands for nothing: it was made without a value, or moved from");
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
        if (d < -n || d >= n) throw IndexError(detail::concat("dimension ", d, " of a tensor with ", n, " dimensions"));
        return d < 0 ? d + n : d;
    }
    void *memory(DType wanted) const
    {
        if (is_meta() && numel()) throw NotImplementedError("a meta tensor has a shape and no memory");
        if (wanted != dtype()) throw TypeError(detail::concat("wanted a ", name_of(wanted), " tensor, got ", name_of(dtype())));
        return facts().data;
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
    void outlive() /* somebody kept a handle: give it a tensor of its own */
    {
        taeda_tensor *made;
        taeda_error error{};
        detail::Box &box = *tensor_.box_;
        if (api().contiguous(box.tensor, &made, &error)) std::terminate(); /* out of memory, in a destructor */
        box.tensor = made;
        box.owned = true;
        box.ask();
    }
    Tensor tensor_;
};

inline taeda_tensor *Tensor::release() const
{
    detail::Box &b = box();
    if (b.owned && b.handles.load(std::memory_order_acquire) == 1) {
        b.owned = false;
        return b.tensor;
    }
    taeda_tensor *made; /* shared with somebody, or an argument: another tensor on the same memory */
    taeda_error error{};
    detail::check(api().contiguous(b.tensor, &made, &error), error);
    return made;
}

namespace detail {
/* How a value crosses: its name in schemas, and how it is read from the tensor that carries it. */
template <class T> struct Argument {
    static_assert(sizeof(T) == 0, "arguments of bound functions are Tensor, double, float, int64_t, int, bool or std::string");
};
struct TensorArgument {
    static constexpr const char *schema = "Tensor";
    Borrowed borrowed;
    explicit TensorArgument(const taeda_tensor *t) : borrowed(t) {}
    const Tensor &get() const { return *borrowed; }
};
template <class T> struct NumberArgument {
    T value;
    explicit NumberArgument(const taeda_tensor *t) : value((*Borrowed(t)).item<T>()) {}
    T get() const { return value; }
};
template <> struct Argument<Tensor> : TensorArgument { using TensorArgument::TensorArgument; };
template <> struct Argument<double> : NumberArgument<double> { using NumberArgument::NumberArgument; static constexpr const char *schema = "float"; };
template <> struct Argument<float> : NumberArgument<float> { using NumberArgument::NumberArgument; static constexpr const char *schema = "float"; };
template <> struct Argument<int64_t> : NumberArgument<int64_t> { using NumberArgument::NumberArgument; static constexpr const char *schema = "int"; };
template <> struct Argument<int> : NumberArgument<int64_t> {
    using NumberArgument::NumberArgument;
    static constexpr const char *schema = "int";
    int get() const
    {
        if (int(value) != value) throw ValueError(concat(value, " does not fit into 32 bits"));
        return int(value);
    }
};
template <> struct Argument<bool> : NumberArgument<bool> { using NumberArgument::NumberArgument; static constexpr const char *schema = "bool"; };
template <> struct Argument<std::string> {
    static constexpr const char *schema = "str";
    std::string value;
    explicit Argument(const taeda_tensor *t)
    {
        Borrowed bytes(t);
        value.assign(reinterpret_cast<const char *>((*bytes).data<uint8_t>()), size_t((*bytes).numel()));
    }
    const std::string &get() const { return value; }
};

template <class R> struct Result {
    static_assert(sizeof(R) == 0, "results of bound functions are Tensor or std::tuple of Tensor");
};
template <> struct Result<Tensor> {
    static constexpr int32_t count = 1;
    static std::string schema() { return "Tensor"; }
    static void store(const Tensor &made, taeda_tensor **outputs) { outputs[0] = made.release(); }
};
template <class... T> struct Result<std::tuple<T...>> {
    static_assert((std::is_same_v<T, Tensor> && ...), "results of bound functions are Tensor or std::tuple of Tensor");
    static constexpr int32_t count = sizeof...(T);
    static std::string schema()
    {
        std::string made;
        for (int i = 0; i < count; i++) made += i ? ", Tensor" : "(Tensor";
        return made + ")";
    }
    static void store(const std::tuple<T...> &made, taeda_tensor **outputs)
    {
        std::apply([&](const auto &...one) { ((*outputs++ = one.release()), ...); }, made);
    }
};

/* Run `body` and turn what it throws into a code and a message. */
template <class F> int32_t guarded(taeda_error *error, F &&body)
{
    const taeda_api &t = api();
    try {
        body();
        return TAEDA_OK;
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

template <class R, class... A> struct Binding {
    using Function = R (*)(A...);
    static constexpr int32_t inputs = sizeof...(A);

    static int32_t call(const taeda_call *call) { return guarded(call->error, [&] { run(*call, std::index_sequence_for<A...>{}); }); }
    static std::string schema(const std::string &name)
    {
        std::string made = name + "(";
        int i = 0;
        ((made += concat(i ? ", " : "", Argument<std::decay_t<A>>::schema, " arg", i), i++), ...);
        return made + ") -> " + Result<std::decay_t<R>>::schema();
    }

private:
    template <size_t... I> static void run(const taeda_call &call, std::index_sequence<I...>)
    {
        auto function = reinterpret_cast<Function>(call.user);
        [[maybe_unused]] std::tuple<Argument<std::decay_t<A>>...> arguments{Argument<std::decay_t<A>>(call.inputs[I])...};
        auto made = function(std::get<I>(arguments).get()...);
#ifdef TAEDA_WITH_CUDA
        /* f<<<...>>>(...) reports a failure nowhere else */
        if (taeda_cuda_launch_error) cuda::check(cudaError_t(taeda_cuda_launch_error()), "a kernel was not launched");
#endif
        Result<std::decay_t<R>>::store(made, call.outputs);
    }
};
}

/* What TAEDA_EXTENSION's body fills. */
class Module {
public:
    /* Offer `function` to Python under `name`. */
    template <class R, class... A> Module &def(const std::string &name, R (*function)(A...), const std::string &doc = "")
    {
        using B = detail::Binding<R, A...>;
        void *user = reinterpret_cast<void *>(function);
        int32_t code = api().register_kernel(name.c_str(), B::inputs, detail::Result<std::decay_t<R>>::count, B::call, user);
        if (code) throw Error("the core refused the function " + name, code);
        described_ += B::schema(name) + '\x1f' + doc + '\x1e';
        return *this;
    }
    const std::string &described() const { return described_; }

private:
    std::string described_;
};

namespace detail {
inline std::string described;

inline int32_t start(const taeda_api *given, void (*fill)(Module &))
{
    table = given;
    taeda_error error{};
    return guarded(&error, [&] {
        Module m;
        fill(m);
        described = m.described();
    });
}
}
}

/* Defines what the core looks for in an extension; the body binds functions: TAEDA_EXTENSION(m) { m.def("f", f); } */
#define TAEDA_EXTENSION(module) \
    static void taeda_extension_fill(::taeda::Module &); \
    TAEDA_EXPORT uint32_t taeda_ext_abi(void) { return TAEDA_ABI; } \
    TAEDA_EXPORT int32_t taeda_ext_init(const taeda_api *api) { return ::taeda::detail::start(api, taeda_extension_fill); } \
    TAEDA_EXPORT const char *taeda_ext_functions(void) { return ::taeda::detail::described.c_str(); } \
    static void taeda_extension_fill([[maybe_unused]] ::taeda::Module &module)
#endif
