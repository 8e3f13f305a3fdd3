/* taeda_torch/record.hpp - what torch::autograd::Function leaves behind for the derivative of an
 * operator.
 *
 * While a bound function runs, each Function::apply in it adds a node. The operator hands out one
 * more result, an int64 on memory whose deleter ends the nodes: the graph of Python keeps it as
 * long as the derivative may be asked for. A gradient flows from results that a node made to
 * arguments that a node took; where C++ computed in between, nobody knows the derivative, and
 * asking for it is an error. */
#ifndef TAEDA_TORCH_RECORD_HPP
#define TAEDA_TORCH_RECORD_HPP
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "taeda_torch/dlpack.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {

using Gradients = std::vector<Tensor>;

/* One Function::apply. */
class Node {
public:
    /* of an input: an argument of the call, an output of an earlier node, or unknown */
    struct Source {
        int node = -1, index = -1;
        bool known() const { return index >= 0; }
    };
    virtual ~Node() = default;
    virtual Gradients backward(Gradients grads) = 0;
    std::vector<Source> inputs;
    std::vector<bool> differentiable; /* inputs: floating-point or complex Tensors */
    std::vector<Tensor> outputs;      /* until the call ends */
    size_t output_count = 0;
};

/* While a backward runs: the saved tensors whose gradients may be asked for. */
class Saved {
public:
    explicit Saved(std::vector<const void *> wanted)
        : wanted_(std::move(wanted)), before_(std::exchange(now, this))
    {
    }
    Saved(const Saved &) = delete;
    Saved &operator=(const Saved &) = delete;
    ~Saved() { now = before_; }
    bool wants(const void *handle) const
    {
        return std::find(wanted_.begin(), wanted_.end(), handle) != wanted_.end();
    }
    static inline thread_local const Saved *now = nullptr;

private:
    std::vector<const void *> wanted_;
    const Saved *before_;
};

/* All nodes of one call. */
class Record {
public:
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Node::Source> results; /* node and output of each result */
    int64_t number = 0;
    size_t arguments = 0; /* Tensor arguments of the operator */

    /* Gradients of the arguments, from those of the results. */
    Gradients backward(const Gradients &grads) const
    {
        std::map<std::pair<int, int>, Tensor> arriving;
        for (size_t k = 0; k < grads.size(); k++) {
            if (!grads[k].defined()) continue;
            if (k >= results.size() || !results[k].known()) unknown("a result");
            add(arriving[{results[k].node, results[k].index}], grads[k]);
        }
        Gradients made(arguments);
        for (int n = int(nodes.size()) - 1; n >= 0; n--) through(n, arriving, made);
        return made;
    }

private:
    static void add(Tensor &sum, const Tensor &more) { sum = sum.defined() ? sum.add(more) : more; }
    [[noreturn]] TAEDA_RARE static void unknown(const char *what)
    {
        throw NotImplementedError(
            str(what, " was computed in C++ outside of torch::autograd::Function: its derivative "
                      "is not recorded"));
    }
    void through(int n, std::map<std::pair<int, int>, Tensor> &arriving, Gradients &made) const
    {
        Node &node = *nodes[size_t(n)];
        Gradients grads(node.output_count);
        bool any = false;
        for (size_t j = 0; j < grads.size(); j++) {
            grads[j] = arriving[{n, int(j)}];
            any |= grads[j].defined();
        }
        if (!any) return;
        Gradients back = node.backward(std::move(grads));
        TORCH_CHECK(back.size() == node.inputs.size(), "backward returned ", back.size(),
                    " gradients, and forward took ", node.inputs.size(), " arguments");
        for (size_t i = 0; i < back.size(); i++) {
            if (!back[i].defined() || !node.differentiable[i]) continue;
            const Node::Source &source = node.inputs[i];
            if (!source.known()) unknown("an argument of forward");
            add(source.node < 0 ? made[size_t(source.index)]
                                : arriving[{source.node, source.index}],
                back[i]);
        }
    }
};

/* The records that Python's graph holds, by number. */
class Records {
public:
    static Records &all()
    {
        /* never destroyed: tensors may go after the library's own end */
        static Records *made = new Records;
        return *made;
    }
    /* A tensor of the record's number, which ends the record when it goes. */
    Tensor keep(std::shared_ptr<Record> record)
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            record->number = ++last_;
            known_[record->number] = record;
        }
        return lent(&record->number, {}, {}, kLong,
                    [number = record->number](void *) { all().forget(number); });
    }
    std::shared_ptr<Record> find(int64_t number)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = known_.find(number);
        TORCH_CHECK(at != known_.end(), "there is no record ", number,
                    " of a torch::autograd::Function");
        return at->second;
    }

private:
    void forget(int64_t number)
    {
        std::shared_ptr<Record> ended; /* ends after the lock: its tensors may end others */
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = known_.find(number);
        if (at == known_.end()) return;
        ended = std::move(at->second);
        known_.erase(at);
    }
    std::mutex mutex_;
    std::map<int64_t, std::shared_ptr<Record>> known_;
    int64_t last_ = 0;
};

/* While a bound function runs. */
class Recording {
public:
    Recording(const taeda_call &call, bool on)
        : call_(call), needs_(on ? call.args[call.arg_count - 1].as.integer : 0),
          before_(std::exchange(current, needs_ ? this : nullptr)),
          asked_before_(std::exchange(asked, current))
    {
        if (needs_) record_ = std::make_shared<Record>();
    }
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;
    ~Recording()
    {
        current = before_;
        asked = asked_before_;
    }
    /* Where x came from. */
    Node::Source source(const Tensor &x) const
    {
        if (!x.defined()) return {};
        for (int k = 0; k < call_.input_count; k++)
            if (call_.inputs[k] == x.handle().get()) return {-1, k};
        return output(x.handle());
    }
    Node::Source output(const taeda::Tensor &x) const
    {
        for (size_t n = record_->nodes.size(); n-- > 0;) {
            const std::vector<Tensor> &made = record_->nodes[n]->outputs;
            for (size_t j = 0; j < made.size(); j++)
                if (made[j].defined() && made[j].handle().get() == x.get()) return {int(n), int(j)};
        }
        return {};
    }
    /* May the gradient of x be asked for? */
    bool needs(const Node::Source &from) const
    {
        if (!from.known()) return false;
        if (from.node < 0) return needs_ >> std::min(from.index, 63) & 1;
        const Node &node = *record_->nodes[size_t(from.node)];
        return std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](const Node::Source &one) { return needs(one); });
    }
    void add(std::unique_ptr<Node> node) { record_->nodes.push_back(std::move(node)); }
    /* The call ends with these results: what is kept of it, or nothing. */
    Tensor close(const std::vector<taeda::Tensor> &results, bool lengths)
    {
        if (!record_ || record_->nodes.empty()) return {};
        record_->results.resize(1 + size_t(lengths)); /* the record itself, the lengths */
        for (const taeda::Tensor &x : results)
            record_->results.push_back(x.defined() ? output(x) : Node::Source());
        record_->arguments = size_t(call_.input_count);
        for (auto &node : record_->nodes) node->outputs.clear();
        return Records::all().keep(std::move(record_));
    }

    static inline thread_local Recording *current = nullptr; /* null inside of forward, too */
    /* who knows what requires a gradient */
    static inline thread_local Recording *asked = nullptr;

private:
    const taeda_call &call_;
    int64_t needs_; /* a bit for each Tensor argument: the last argument of the call */
    Recording *before_, *asked_before_;
    std::shared_ptr<Record> record_;
};

}
inline bool Tensor::requires_grad() const
{
    if (detail::Saved::now && detail::Saved::now->wants(handle().get())) return true;
    return detail::Recording::asked &&
           detail::Recording::asked->needs(detail::Recording::asked->source(*this));
}
namespace detail {

/* The derivative of every operator that records: record, gradients of the results -> of the
 * arguments. */
inline int32_t run_backward(const taeda_call *call)
{
    return taeda::detail::guarded(call->error, [&] {
        TORCH_CHECK_NOT_IMPLEMENTED(
            call->args[0].kind == TAEDA_KIND_TENSOR,
            "no torch::autograd::Function was applied: the derivative is not recorded");
        taeda::detail::Argument<taeda::Tensor> number(call->args[0]);
        taeda::detail::Argument<std::vector<taeda::Tensor>> given(call->args[1]);
        Gradients grads;
        for (const taeda::Tensor &one : given.get()) grads.emplace_back(one);
        Gradients made = Records::all().find(Tensor(number.get()).item<int64_t>())->backward(grads);
        grads.clear();
        taeda::detail::Handing to(*call, false);
        for (Tensor &x : made)
            to.put(x.defined() ? std::exchange(x, Tensor()).handle() : taeda::Tensor());
    });
}

}
}
#endif
