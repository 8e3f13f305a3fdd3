/* taeda/random.hpp - random bits for kernels, out of the streams that the core's operators draw
 * from. */
#ifndef TAEDA_RANDOM_HPP
#define TAEDA_RANDOM_HPP
#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

/* A stream of random numbers, as an argument of a bound function: `Generator? generator=None` in
 * its schema. Without one it is the default stream. Valid until the call ends. */
class Generator {
public:
    Generator() = default; /* the default stream */
    explicit Generator(const taeda_value &value) : value_(value) {}
    const taeda_value &get() const { return value_; }

private:
    taeda_value value_{TAEDA_KIND_NONE, 0, 0, {}};
};

/* `blocks` blocks of 128 bits, taken from a stream. They depend on their numbers alone: bodies of
 * parallel_for may ask for any of them in any order. */
class RandomBits {
public:
    RandomBits(const Generator &generator, int64_t blocks)
    {
        taeda_error error{};
        part_.size = sizeof part_;
        detail::check(api().random_reserve(&generator.get(), blocks, &part_, &error), error);
    }
    /* Four words a block, from block `first` on. */
    void fill(int64_t first, int64_t count, uint32_t *words) const
    {
        api().random_bits(&part_, first, count, words);
    }

private:
    taeda_random part_{};
};

}
#endif
