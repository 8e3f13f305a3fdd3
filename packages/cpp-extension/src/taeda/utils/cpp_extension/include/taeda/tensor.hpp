/* taeda/tensor.hpp - the handle on a tensor of the core. */
#ifndef TAEDA_TENSOR_HPP
#define TAEDA_TENSOR_HPP
#include <atomic>
#include <utility>
#include <vector>

#include "taeda/device.hpp"
#include "taeda/dtype.hpp"
#include "taeda/layout.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
/* What the handles of one tensor share. An argument is borrowed from the core until its call ends;
 * a handle that outlives the call gets a tensor of its own then, so that keeping one is safe. */
struct Box {
    taeda_tensor *tensor;
    bool owned;
    std::atomic<bool> apart{false}; /* see Tensor::made */
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
    /* not of a handle that nobody holds: `select(y, 0, i) = x` would do nothing */
    Tensor &operator=(Tensor o) & noexcept
    {
        std::swap(box_, o.box_);
        return *this;
    }
    ~Tensor() { drop(); }
    /* Take over a tensor that the table made. */
    static Tensor adopt(taeda_tensor *made) { return Tensor(made, true); }
    /* The same for one with memory of its own. As long as its handle is handed to nobody, no other
     * tensor can lie there. */
    static Tensor made(taeda_tensor *made)
    {
        Tensor x = adopt(made);
        x.box_->apart.store(true, std::memory_order_relaxed);
        return x;
    }
    bool is_apart() const { return box().apart.load(std::memory_order_relaxed); }

    bool defined() const { return box_ != nullptr; }
    DType dtype() const { return DType(facts().dtype); }
    int64_t dim() const { return facts().ndim; }
    int64_t numel() const { return facts().numel; }
    int64_t element_size() const { return facts().itemsize; }
    Dims sizes() const { return {facts().sizes, facts().ndim}; }
    Dims strides() const { return {facts().strides, facts().ndim}; } /* in elements */
    /* negative counts from the end */
    int64_t size(int64_t d) const { return facts().sizes[wrapped(d)]; }
    int64_t stride(int64_t d) const { return facts().strides[wrapped(d)]; }
    bool is_argument() const { return !box().owned; } /* is it one of the running call's? */
    Device device() const { return Device::of(facts().device); }
    bool is_cuda() const { return device().is_cuda(); }
    bool is_meta() const { return device().is_meta(); } /* shape without memory */

    /* are the elements in row-major order without gaps? */
    bool is_contiguous() const { return facts().is_contiguous; }
    /* This tensor if it is row-major, else a copy that is. */
    Tensor contiguous() const { return is_contiguous() ? *this : row_major(); }
    /* A tensor on this one's memory; strides and offset count elements. ValueError for what lies
     * outside. */
    Tensor as_strided(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides,
                      int64_t offset = 0) const
    {
        TAEDA_CHECK_VALUE(sizes.size() == strides.size(), "as_strided: ", sizes.size(),
                          " sizes and ", strides.size(), " strides");
        return adopt(viewed(int32_t(sizes.size()), sizes.data(), strides.data(), offset));
    }
    /* Another tensor on the same memory. */
    Tensor alias() const { return adopt(viewed(facts().ndim, facts().sizes, facts().strides, 0)); }

    /* The first element, for reading; TypeError unless the elements are of type T. NULL on meta and
     * for empty tensors. On a CUDA device it is an address there, which kernels may follow and the
     * host may not. */
    template <class T> const T *data() const { return static_cast<const T *>(memory(dtype_of<T>)); }
    /* The same for writing: to tensors made here, or to arguments that the operator is declared to
     * change. */
    template <class T> T *mutable_data() { return static_cast<T *>(memory(dtype_of<T>)); }
    const void *raw_data() const { return facts().data; }
    void *raw_mutable_data() { return facts().data; }
    template <class T, int N> Accessor<const T, N> accessor() const
    {
        return {data<T>(), strided(N), facts().strides};
    }
    template <class T, int N> Accessor<T, N> mutable_accessor()
    {
        return {mutable_data<T>(), strided(N), facts().strides};
    }
    /* The only element, converted; for tensors of one element. Waits for work on its device. */
    template <class T> T item() const;
    /* This tensor, or a copy of it on the cpu. Waits for work on its device. */
    Tensor cpu() const;
    /* A stream of one's own works on this CUDA tensor's memory, too: it serves again when what the
     * stream has by then is done. */
    void record_stream(void *stream) const
    {
        taeda_error error{};
        detail::check(api().record_stream(get(), stream, &error), error);
    }

    /* Its memory for others: DLPack 1.x, of dlpack.h. Whoever gets it calls its deleter. */
    DLManagedTensorVersioned *to_dlpack() const
    {
        DLManagedTensorVersioned *made;
        taeda_error error{};
        detail::check(api().to_dlpack(get(), &made, &error), error);
        return made;
    }
    /* Grows with each write in place that the core sees. */
    uint64_t version() const
    {
        taeda_facts now;
        now.size = sizeof now;
        api().facts(get(), &now);
        return now.version;
    }
    const taeda_tensor *get() const
    {
        detail::Box &b = box();
        if (b.apart.load(std::memory_order_relaxed))
            b.apart.store(false, std::memory_order_relaxed);
        return b.tensor;
    }
    /* Hand the tensor to the core, which owns it from here on. */
    taeda_tensor *release() const;
    /* All handles of this tensor stand for what `other` was, and those of `other` for this. Neither
     * is an argument. */
    void exchange(const Tensor &other) const
    {
        detail::Box &a = box(), &b = other.box();
        if (!a.owned || !b.owned) throw ValueError("exchange: an argument stays the caller's");
        std::swap(a.tensor, b.tensor);
        a.apart.store(false, std::memory_order_relaxed), a.ask();
        b.apart.store(false, std::memory_order_relaxed), b.ask();
    }

private:
    friend class Borrowed;
    Tensor(taeda_tensor *t, bool owned) : box_(new detail::Box(t, owned)) {}

    taeda_tensor *viewed(int32_t ndim, const int64_t *sizes, const int64_t *strides,
                         int64_t offset) const
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
        if (!box_) return;
        /* the only handle is nobody else's to copy: most are, and a locked instruction is as long
           as the rest of a small call's way */
        if (box_->handles.load(std::memory_order_acquire) == 1 ||
            box_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete box_;
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
        throw TypeError(
            detail::concat("wanted a ", name_of(wanted), " tensor, got ", name_of(dtype())));
    }
    [[noreturn]] TAEDA_RARE void no_dimension(int64_t d) const
    {
        throw IndexError(
            detail::concat("dimension ", d, " of a tensor with ", dim(), " dimensions"));
    }
    [[noreturn]] TAEDA_RARE static void undefined()
    {
        throw ValueError(
            "this Tensor stands for nothing: it was made without a value, or moved from");
    }
    const int64_t *strided(int64_t n) const
    {
        if (n != dim())
            throw ValueError(detail::concat("wanted a tensor with ", n, " dimensions, got shape ",
                                            shape_text(sizes())));
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

inline taeda_tensor *Tensor::release() const
{
    detail::Box &b = box();
    if (!b.owned ||
        b.handles.load(std::memory_order_acquire) > 1) /* shared with somebody, or an argument */
        return viewed(b.facts.ndim, b.facts.sizes, b.facts.strides, 0);
    b.owned = false;
    return b.tensor;
}

}
#endif
