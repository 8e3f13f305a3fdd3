// A class whose objects Python holds, in the style of custom classes of extension projects.
#include <torch/custom_class.h>
#include <torch/extension.h>

namespace {

struct Stack : torch::CustomClassHolder {
    std::vector<int64_t> values;
    double weight = 2.5;
    static inline int64_t alive = 0;
    explicit Stack(std::vector<int64_t> start) : values(std::move(start)) { alive++; }
    ~Stack() override { alive--; }
    void push(int64_t x) { values.push_back(x); }
    int64_t pop()
    {
        TORCH_CHECK(!values.empty(), "the stack is empty");
        int64_t last = values.back();
        values.pop_back();
        return last;
    }
    int64_t size() const { return int64_t(values.size()); }
    void merge(const c10::intrusive_ptr<Stack> &other) { values.insert(values.end(), other->values.begin(), other->values.end()); }
    c10::intrusive_ptr<Stack> clone() const { return c10::make_intrusive<Stack>(values); }
};
struct Counter : torch::CustomClassHolder {
    at::Tensor sum = at::zeros({2});
    at::Tensor add(const at::Tensor &x)
    {
        sum = sum + x;
        return sum.clone();
    }
};
struct Secret : torch::CustomClassHolder {};

at::Tensor times(const c10::intrusive_ptr<Stack> &stack, const at::Tensor &x) { return x * double(stack->size()); }
c10::intrusive_ptr<Stack> same(const c10::intrusive_ptr<Stack> &stack) { return stack; }
std::tuple<c10::intrusive_ptr<Counter>, int64_t> fresh() { return {c10::make_intrusive<Counter>(), 3}; }
c10::intrusive_ptr<Secret> secret() { return c10::make_intrusive<Secret>(); }
c10::intrusive_ptr<Stack> nothing() { return {}; }
int64_t alive() { return Stack::alive; }

}

TORCH_LIBRARY(stacks, m)
{
    m.class_<Stack>("Stack", "Numbers, the last first.")
        .def(torch::init<std::vector<int64_t>>())
        .def("push", &Stack::push, "Put x on top.", {torch::arg("x") = 7})
        .def("pop", &Stack::pop)
        .def("size", &Stack::size)
        .def("merge", &Stack::merge)
        .def("clone", &Stack::clone)
        .def("top", [](const c10::intrusive_ptr<Stack> &self) { return self->values.back(); })
        .def_property("count", &Stack::size)
        .def_readwrite("weight", &Stack::weight)
        .def_static("of_ones", [](int64_t n) { return c10::make_intrusive<Stack>(std::vector<int64_t>(size_t(n), 1)); })
        .def_pickle([](const c10::intrusive_ptr<Stack> &self) { return self->values; }, [](std::vector<int64_t> values) { return c10::make_intrusive<Stack>(std::move(values)); });
    m.class_<Counter>("Counter").def(torch::init([] { return c10::make_intrusive<Counter>(); })).def("add", &Counter::add).def_readonly("sum", &Counter::sum);
    m.def("times(__torch__.torch.classes.stacks.Stack stack, Tensor x) -> Tensor", times);
    m.def("same(__torch__.torch.classes.stacks.Stack stack) -> __torch__.torch.classes.stacks.Stack", same);
    m.def("fresh", fresh);
    m.def("secret", secret);
    m.def("nothing", nothing);
    m.def("alive", alive);
}
