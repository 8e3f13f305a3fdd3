/* taeda_torch/container.hpp - lists and dictionaries whose copies stand for the same elements. */
#ifndef TAEDA_TORCH_CONTAINER_HPP
#define TAEDA_TORCH_CONTAINER_HPP
#include <list>
#include <memory>
#include <unordered_map>

#include "taeda_torch/array.hpp"

namespace c10 TAEDA_HIDDEN {

template <class T> class List {
public:
    List() : kept_(std::make_shared<std::vector<T>>()) {}
    List(std::vector<T> list) : kept_(std::make_shared<std::vector<T>>(std::move(list))) {}
    List(std::initializer_list<T> list) : List(std::vector<T>(list)) {}
    explicit List(ArrayRef<T> list) : List(list.vec()) {}
    size_t size() const { return kept_->size(); }
    bool empty() const { return kept_->empty(); }
    T get(size_t i) const { return kept_->at(i); }
    decltype(auto) operator[](size_t i) const { return kept_->at(i); }
    void set(size_t i, T v) const { kept_->at(i) = std::move(v); }
    void push_back(T v) const { kept_->push_back(std::move(v)); }
    template <class... A> void emplace_back(A &&...a) const
    {
        kept_->emplace_back(std::forward<A>(a)...);
    }
    void reserve(size_t n) const { kept_->reserve(n); }
    void clear() const { kept_->clear(); }
    auto begin() const { return kept_->begin(); }
    auto end() const { return kept_->end(); }
    const std::vector<T> &vec() const { return *kept_; }
    operator std::vector<T>() const { return *kept_; }

private:
    std::shared_ptr<std::vector<T>> kept_;
};

/* In the order in which keys came. It does not cross to Python: a function that takes or gives one
 * is refused there. */
template <class K, class V> class Dict {
    class Entry {
    public:
        Entry(K key, V value) : key_(std::move(key)), value_(std::move(value)) {}
        const K &key() const { return key_; }
        const V &value() const { return value_; }
        template <class T> void setValue(T &&v) const { value_ = std::forward<T>(v); }

    private:
        friend class Dict;
        K key_;
        mutable V value_;
    };
    struct Kept {
        std::list<Entry> entries;
        std::unordered_map<K, typename std::list<Entry>::iterator> by_key;
    };

public:
    Dict() : kept_(std::make_shared<Kept>()) {}
    size_t size() const { return kept_->entries.size(); }
    bool empty() const { return kept_->entries.empty(); }
    auto begin() const { return kept_->entries.begin(); }
    auto end() const { return kept_->entries.end(); }
    bool contains(const K &key) const { return kept_->by_key.count(key) != 0; }
    const V &at(const K &key) const { return kept_->by_key.at(key)->value(); }
    auto find(const K &key) const
    {
        auto found = kept_->by_key.find(key);
        return found == kept_->by_key.end() ? kept_->entries.end() : found->second;
    }
    bool insert(K key, V value) const
    {
        if (contains(key)) return false;
        kept_->by_key.emplace(key,
                              kept_->entries.emplace(kept_->entries.end(), key, std::move(value)));
        return true;
    }
    bool insert_or_assign(K key, V value) const
    {
        if (insert(key, value)) return true;
        find(key)->setValue(std::move(value));
        return false;
    }
    size_t erase(const K &key) const
    {
        auto found = kept_->by_key.find(key);
        if (found == kept_->by_key.end()) return 0;
        kept_->entries.erase(found->second);
        kept_->by_key.erase(found);
        return 1;
    }

private:
    std::shared_ptr<Kept> kept_;
};

namespace detail {
/* Can a value of this type cross to Python, or from it? */
template <class T> inline constexpr bool crosses = true;
template <class K, class V> inline constexpr bool crosses<Dict<K, V>> = false;
template <class... T> inline constexpr bool crosses<std::tuple<T...>> = (crosses<T> && ...);
template <class T> inline constexpr bool crosses<std::optional<T>> = crosses<T>;
}
}
#endif
