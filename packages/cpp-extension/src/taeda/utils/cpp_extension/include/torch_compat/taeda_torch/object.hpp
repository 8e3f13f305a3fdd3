/* taeda_torch/object.hpp - objects of C++ classes that Python holds: counted pointers, and the
 * table of those that are out.
 *
 * An object crosses as its number, which is its address, and only a number that stands in the table
 * is taken: a wrong one is a TypeError and no read. */
#ifndef TAEDA_TORCH_OBJECT_HPP
#define TAEDA_TORCH_OBJECT_HPP
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

#include "taeda_torch/convert.hpp"

namespace c10 TAEDA_HIDDEN {

template <class T> class intrusive_ptr;

/* What an intrusive_ptr may point to: it counts its pointers. */
class intrusive_ptr_target {
public:
    intrusive_ptr_target() = default;
    intrusive_ptr_target(const intrusive_ptr_target &) {} /* a copy is an object of its own */
    intrusive_ptr_target &operator=(const intrusive_ptr_target &) { return *this; }
    virtual ~intrusive_ptr_target() = default;

private:
    template <class T> friend class intrusive_ptr;
    mutable std::atomic<size_t> pointers_{0};
};

template <class T> class intrusive_ptr {
public:
    using element_type = T;
    intrusive_ptr() = default;
    intrusive_ptr(std::nullptr_t) {}
    intrusive_ptr(const intrusive_ptr &other) : intrusive_ptr(other.target_, Share()) {}
    intrusive_ptr(intrusive_ptr &&other) noexcept : target_(std::exchange(other.target_, nullptr))
    {
    }
    template <class Other, class = std::enable_if_t<std::is_convertible_v<Other *, T *>>>
    intrusive_ptr(const intrusive_ptr<Other> &other) : intrusive_ptr(other.get(), Share())
    {
    }
    intrusive_ptr &operator=(intrusive_ptr other) noexcept
    {
        std::swap(target_, other.target_);
        return *this;
    }
    ~intrusive_ptr() { reset(); }

    template <class... A> static intrusive_ptr make(A &&...a)
    {
        return intrusive_ptr(new T(std::forward<A>(a)...), Share());
    }
    static intrusive_ptr unsafe_steal_from_new(T *made) { return intrusive_ptr(made, Share()); }
    /* Of what release() gave. */
    static intrusive_ptr reclaim(T *owned)
    {
        intrusive_ptr made;
        made.target_ = owned;
        return made;
    }
    T *release() noexcept { return std::exchange(target_, nullptr); }
    void reset() noexcept
    {
        T *old = release();
        if (old && old->pointers_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete old;
    }

    T *get() const noexcept { return target_; }
    T &operator*() const noexcept { return *target_; }
    T *operator->() const noexcept { return target_; }
    explicit operator bool() const noexcept { return target_ != nullptr; }
    bool defined() const noexcept { return target_ != nullptr; }
    size_t use_count() const noexcept { return target_ ? target_->pointers_.load() : 0; }
    bool unique() const noexcept { return use_count() == 1; }
    friend bool operator==(const intrusive_ptr &a, const intrusive_ptr &b)
    {
        return a.target_ == b.target_;
    }
    friend bool operator!=(const intrusive_ptr &a, const intrusive_ptr &b)
    {
        return a.target_ != b.target_;
    }

private:
    struct Share {};
    intrusive_ptr(T *target, Share) : target_(target)
    {
        if (target_) target_->pointers_.fetch_add(1, std::memory_order_relaxed);
    }
    T *target_ = nullptr;
};
template <class T, class... A> intrusive_ptr<T> make_intrusive(A &&...a)
{
    return intrusive_ptr<T>::make(std::forward<A>(a)...);
}

}

namespace torch TAEDA_HIDDEN {
/* The base of classes that Python may hold objects of. */
struct CustomClassHolder : c10::intrusive_ptr_target {};
namespace jit {
using torch::CustomClassHolder;
}
}

namespace at TAEDA_HIDDEN {
namespace detail {

/* The objects that Python holds, by number. */
class Objects {
public:
    using Holder = c10::intrusive_ptr<torch::CustomClassHolder>;
    static Objects &all()
    {
        /* never destroyed: Python's objects may go after the library's own end */
        static Objects *made = new Objects;
        return *made;
    }
    /* "space.Name" of a class, as class_ registered it */
    void name(std::type_index type, const std::string &name) { names_[type] = name; }
    bool is_named(std::type_index type) const { return names_.count(type) != 0; }
    /* For a message, or empty. */
    std::string name_of(std::type_index type) const
    {
        auto at = names_.find(type);
        return at == names_.end() ? "" : at->second;
    }
    /* Hand `object` to Python, which gives it back by forget(): its class and number. `type` is
     * that of the pointer. */
    std::string keep(Holder object, std::type_index type)
    {
        const torch::CustomClassHolder &held = *object;
        std::type_index exact = typeid(held);
        std::string name = name_of(names_.count(exact) ? exact : type);
        TORCH_CHECK_TYPE(!name.empty(), "an object is returned whose class Python does not know: "
                                        "register it by m.class_<T>(\"Name\")");
        int64_t number = number_of(object.get());
        std::lock_guard<std::mutex> lock(mutex_);
        Held &kept = known_[number];
        kept.count++;
        kept.object = std::move(object);
        return str(name, ":", number);
    }
    /* The object of that number, if it is a T. */
    template <class T> c10::intrusive_ptr<T> find(int64_t number)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = known_.find(number);
        TORCH_CHECK_TYPE(at != known_.end(), "wanted an object of ", wanted<T>(),
                         ", got what is no object of this library");
        auto *found = dynamic_cast<T *>(at->second.object.get());
        const torch::CustomClassHolder &held = *at->second.object;
        TORCH_CHECK_TYPE(found, "wanted an object of ", wanted<T>(), ", got one of ",
                         name_of(typeid(held)));
        Holder shared = at->second.object;
        shared.release();
        return c10::intrusive_ptr<T>::reclaim(found);
    }
    /* One of Python's objects ended. */
    void forget(int64_t number)
    {
        Holder ended; /* ends after the lock: its own members may end others */
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = known_.find(number);
        if (at == known_.end() || --at->second.count) return;
        ended = std::move(at->second.object);
        known_.erase(at);
    }

private:
    struct Held {
        Holder object;
        size_t count = 0; /* of Python's objects */
    };
    static int64_t number_of(const torch::CustomClassHolder *object)
    {
        return int64_t(reinterpret_cast<uintptr_t>(object));
    }
    template <class T> std::string wanted() const
    {
        std::string name = name_of(typeid(T));
        return name.empty() ? "a class that is not registered" : name;
    }
    std::mutex mutex_;
    std::map<int64_t, Held> known_;
    std::map<std::type_index, std::string> names_;
};

/* c: an object of a class: its class and number */
template <class T> struct Out<c10::intrusive_ptr<T>> {
    static std::string kinds() { return "c"; }
    static void put(const c10::intrusive_ptr<T> &object, Results &to)
    {
        TORCH_CHECK_VALUE(object,
                          "a null pointer to an object is returned, and Python has no such object");
        Out<std::string>::put(Objects::all().keep(object, typeid(T)), to);
    }
};

}
}

namespace taeda TAEDA_HIDDEN {
namespace detail {
template <class T> struct Argument<c10::intrusive_ptr<T>> : Plain<c10::intrusive_ptr<T>> {
    static constexpr const char *schema = "int";
    explicit Argument(const taeda_value &v)
        : Plain<c10::intrusive_ptr<T>>{at::detail::Objects::all().find<T>(whole(v))}
    {
    }
};
template <class T> inline const char *const holds<c10::intrusive_ptr<T>> = "int ";
}
}
#endif
