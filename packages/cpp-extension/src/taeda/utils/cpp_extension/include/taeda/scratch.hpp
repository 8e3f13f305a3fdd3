/* taeda/scratch.hpp - work space from the core's allocator. */
#ifndef TAEDA_SCRATCH_HPP
#define TAEDA_SCRATCH_HPP
#include <new>
#include <type_traits>

#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

/* Room for `count` elements, unset, at a multiple of 64 bytes; given back with the object. In any
 * thread, bodies of parallel_for included. */
template <class T> class Scratch {
    static_assert(std::is_trivially_copyable_v<T>,
                  "work space holds plain values: nothing constructs or destroys them");

public:
    explicit Scratch(int64_t count) : bytes_(sized(count))
    {
        taeda_error error{};
        detail::check(api().scratch(bytes_, &block_, &error), error);
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() { api().scratch_free(block_, bytes_); }

    T *data() { return static_cast<T *>(block_); }
    T &operator[](int64_t i) { return data()[i]; }
    int64_t size() const { return bytes_ / int64_t(sizeof(T)); }

private:
    static int64_t sized(int64_t count)
    {
        if (count < 0 || count > INT64_MAX / int64_t(sizeof(T)))
            throw ValueError(detail::concat("Scratch: ", count, " elements cannot exist"));
        return count * int64_t(sizeof(T));
    }
    void *block_ = nullptr;
    int64_t bytes_;
};

}
#endif
