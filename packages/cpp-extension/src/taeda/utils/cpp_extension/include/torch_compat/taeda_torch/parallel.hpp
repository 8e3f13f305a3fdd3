/* taeda_torch/parallel.hpp - loops on the core's threads, whose bodies may call operators. */
#ifndef TAEDA_TORCH_PARALLEL_HPP
#define TAEDA_TORCH_PARALLEL_HPP
#include <mutex>

#include "taeda_torch/tensor.hpp"

namespace at TAEDA_HIDDEN {

namespace internal {
inline constexpr int64_t GRAIN_SIZE = 32768;
}
inline int get_num_threads() { return taeda::api().thread_count(); }

namespace detail {
/* Numbers for the bodies that run at one time, so that each has a place of its own in an array. */
class Places {
public:
    int take()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        size_t i = 0;
        while (i < taken_.size() && taken_[i]) i++;
        if (i == taken_.size()) taken_.push_back(true);
        taken_[i] = true;
        return int(i);
    }
    void give(int i)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        taken_[size_t(i)] = false;
    }

private:
    std::mutex mutex_;
    std::vector<bool> taken_;
};
inline thread_local int place = -1; /* outside of bodies: -1 */
class Place {
public:
    explicit Place(Places &places) : places_(places), before_(place) { place = places_.take(); }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;
    ~Place()
    {
        places_.give(place);
        place = before_;
    }

private:
    Places &places_;
    int before_;
};
}
/* Below get_num_threads(), and different in bodies of one loop that run at one time. */
inline int get_thread_num() { return std::max(detail::place, 0); }
inline bool in_parallel_region() { return detail::place >= 0; }

/* f(begin, end) over [begin, end), in pieces of at least `grain`. A loop in a body is serial, and
 * keeps its place. */
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, const F &f)
{
    if (begin >= end) return;
    if (in_parallel_region()) return f(begin, end);
    detail::Places places;
    taeda::parallel_for(begin, end, std::max<int64_t>(grain, 1), [&](int64_t from, int64_t to) {
        detail::Place here(places);
        f(from, to);
    });
}
/* The pieces have fixed bounds, and are joined in their order: the result does not depend on the
 * number of threads. */
template <class T, class F, class Join>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, T identity, const F &f,
                  const Join &join)
{
    if (begin >= end) return identity;
    int64_t step = std::max<int64_t>(grain, 1), count = (end - begin + step - 1) / step;
    std::vector<T> made(size_t(count), identity);
    parallel_for(0, count, 1, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; i++)
            made[size_t(i)] = f(begin + i * step, std::min(end, begin + (i + 1) * step), identity);
    });
    T all = made[0];
    for (int64_t i = 1; i < count; i++) all = join(all, made[size_t(i)]);
    return all;
}

}
#endif
