/* taeda_torch/registry.hpp - what a library registers, from any of its files, and how the core
 * learns of it.
 *
 * Files leave functions when the library is opened; they run when the core starts it. So the order
 * of files does not count: kernels may come before the definition that they are for. */
#ifndef TAEDA_TORCH_REGISTRY_HPP
#define TAEDA_TORCH_REGISTRY_HPP
#include <list>

#include "taeda_torch/bind.hpp"

#define TAEDA_TORCH_EXPORT_ extern "C" __attribute__((visibility("default"), used)) inline

namespace at TAEDA_HIDDEN {
namespace detail {

struct Definition {
    std::string space, name; /* name: with its overload, "f.out" */
    std::string text;        /* a schema, or empty: it follows from the function */
    std::string doc;
    std::vector<std::string> arguments; /* of a binding for Python: "x", "k=3" */
    bool for_python = false;
    std::shared_ptr<const Callable> any, cpu, cuda, meta, autograd;
    std::unique_ptr<Entry> entry;

    std::string qualified() const { return space + "::" + name; }
    const Callable *first() const
    {
        for (const auto *one : {&autograd, &any, &cpu, &cuda, &meta})
            if (*one) return one->get();
        return nullptr;
    }
};

/* An enumeration that py::enum_ binds: "name=number, ..." */
struct Listed {
    std::string space, name, members, doc;
    bool exported; /* its members are names of the module */
};

class Registry {
public:
    bool records = false; /* does a function use torch::autograd::Function? */
    std::string module_doc;

    void later(std::function<void()> fill) { fills_.push_back(std::move(fill)); }
    /* `text` is a schema or a name alone, with a namespace or without. ValueError if there is one
     * of that name. */
    Definition &define(const std::string &space, const std::string &text)
    {
        size_t end = text.find('('), colon = text.substr(0, end).find("::");
        Definition &made = definitions_.emplace_back();
        made.space = colon == std::string::npos ? space : text.substr(0, colon);
        std::string rest = colon == std::string::npos ? text : text.substr(colon + 2);
        made.name = rest.substr(0, rest.find('('));
        while (!made.name.empty() && made.name.back() == ' ') made.name.pop_back();
        if (end != std::string::npos) made.text = objects_as_numbers(rest);
        for (const Definition &other : definitions_)
            TORCH_CHECK_VALUE(&other == &made || other.qualified() != made.qualified(),
                              made.qualified(), " is defined twice in this library");
        return made;
    }
    /* Kernels for `name`; the definition may come later. */
    Definition &kernels(const std::string &space, const std::string &name)
    {
        size_t colon = name.find("::");
        std::string qualified = colon == std::string::npos ? space + "::" + name : name;
        for (Definition &one : kernels_)
            if (one.qualified() == qualified) return one;
        Definition &made = kernels_.emplace_back();
        made.space = qualified.substr(0, qualified.find("::"));
        made.name = qualified.substr(qualified.find("::") + 2);
        return made;
    }
    /* What Python is told of a class; its members are added behind. */
    std::string &add_class(const std::string &space, const std::string &name, std::string doc)
    {
        return classes_.emplace_back(str(space, "\x1f", name, "\x1f", std::move(doc)));
    }
    /* An enumeration for Python; told in line with functions, marked by the letter e. */
    Listed &add_enumeration(const std::string &space, const char *name)
    {
        return enumerations_.emplace_back(Listed{space, name, "", "", false});
    }
    std::string classes() const
    {
        std::string made;
        for (const std::string &one : classes_) made += one + "\x1e";
        return made;
    }
    const Definition *find(const std::string &qualified) const
    {
        for (const Definition &one : definitions_)
            if (one.qualified() == qualified) return &one;
        return nullptr;
    }
    /* Tell the core of everything; returns what Python is to know of results. */
    TAEDA_RARE std::string finish()
    {
        for (const auto &fill : fills_) fill();
        for (Definition &one : kernels_) join(one);
        std::string described;
        for (Definition &one : definitions_) described += enter(one);
        for (const Listed &one : enumerations_)
            described += str(one.space, "\x1f", one.name, "\x1f", one.exported ? "E" : "e",
                             one.members, "\x1f", one.doc, "\x1e");
        return described;
    }

private:
    /* The core's schemas have no classes of C++: an object crosses as its number. */
    TAEDA_RARE static std::string objects_as_numbers(std::string text)
    {
        static const std::string mark = "__torch__.";
        for (size_t at; (at = text.find(mark)) != std::string::npos;) {
            size_t end = at;
            while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) ||
                                         text[end] == '_' || text[end] == '.'))
                end++;
            text.replace(at, end - at, "int");
        }
        return text;
    }
    TAEDA_RARE void join(Definition &from)
    {
        auto *to = const_cast<Definition *>(find(from.qualified()));
        TORCH_CHECK(to, "a kernel is given for ", from.qualified(),
                    ", which this library does not define: TORCH_LIBRARY(", from.space,
                    ", m) { m.def(...); }");
        for (auto slot : {&Definition::any, &Definition::cpu, &Definition::cuda, &Definition::meta,
                          &Definition::autograd})
            if (from.*slot) {
                TORCH_CHECK(!(to->*slot), from.qualified(), " is given two kernels for one key");
                to->*slot = from.*slot;
            }
    }
    static std::string arguments_of(const Definition &d, const Callable &f)
    {
        TORCH_CHECK_TYPE(d.arguments.size() <= f.types.size(), d.qualified(), ": ",
                         d.arguments.size(), " arguments are named, and the function takes ",
                         f.types.size());
        std::string made;
        size_t k = 0;
        for (const char *type : f.types) {
            made += (k ? ", " : "") + std::string(type) + " " +
                    (k < d.arguments.size() ? d.arguments[k] : str("arg", k));
            k++;
        }
        return made;
    }
    static std::string results_of(const std::string &kinds, bool recorded)
    {
        size_t count = crossing(kinds) + recorded;
        if (crosses_as_list(kinds, recorded)) return "Tensor?[]";
        if (count == 0) return "()";
        if (count == 1)
            return plain(kinds) ? "Tensor?" : "Tensor"; /* one that stands for nothing is None */
        std::string made = "(";
        for (size_t i = 0; i < count; i++) made += i ? ", Tensor?" : "Tensor?";
        return made + ")";
    }
    static bool plain(const std::string &kinds)
    {
        return kinds.find_first_not_of("(to)") == std::string::npos;
    }
    /* The schema that the core gets: results that are no Tensors cross as some. */
    std::string schema(const Definition &d, const Callable &f) const
    {
        if (d.text.empty())
            return d.name + "(" + arguments_of(d, f) + ") -> " + results_of(f.kinds, false);
        if (f.kinds == "[" || (plain(f.kinds) && !crosses_as_list(f.kinds, false))) return d.text;
        return d.text.substr(0, d.text.rfind("->") + 2) + " " + results_of(f.kinds, false);
    }
    /* With one more argument, which gradients may be asked for, and one more result, the record,
     * before the others. */
    static std::string recording(const std::string &text, const Callable &f)
    {
        size_t end = text.rfind(')', text.rfind("->"));
        bool keywords = text.find('*') < end;
        return text.substr(0, end) + (text[end - 1] == '(' ? "" : ", ") + (keywords ? "" : "*, ") +
               "int taeda_needs=-1) -> " + results_of(f.kinds, true);
    }
    TAEDA_RARE std::string enter(Definition &d)
    {
        const Callable *f = d.first();
        if (!f) return define_op(d, d.text, {}), "";
        if (f->kinds == "!")
            return str(d.space, "\x1f", d.name, "\x1f!\x1f", d.for_python ? "p" : "", "\x1e");
        bool in_place =
            d.text.find('!', std::min(d.text.size(), d.text.rfind("->"))) != std::string::npos;
        bool lists = std::any_of(f->types.begin(), f->types.end(),
                                 [](const char *t) { return !std::strncmp(t, "Tensor[]", 8); });
        bool tensors = std::any_of(f->types.begin(), f->types.end(),
                                   [](const char *t) { return !std::strncmp(t, "Tensor", 6); });
        d.entry = std::make_unique<Entry>();
        d.entry->in_place = in_place;
        d.entry->views = d.text.find("Tensor(", std::min(d.text.size(), d.text.rfind("->"))) !=
                         std::string::npos;
        d.entry->recorded = records && tensors && !lists && d.name.find('.') == std::string::npos &&
                            !in_place && !d.entry->views && crossing(f->kinds) > 0;
        auto chosen = [&](const std::shared_ptr<const Callable> &own) {
            return d.autograd ? d.autograd : own ? own : d.any;
        };
        d.entry->by_device[TAEDA_CPU] = chosen(d.cpu);
        d.entry->by_device[TAEDA_META] = d.meta;
#ifdef TAEDA_WITH_CUDA
        d.entry->by_device[TAEDA_CUDA] = chosen(d.cuda);
#else
        /* code for the host would follow addresses of the device */
        d.entry->by_device[TAEDA_CUDA] = d.cuda;
#endif
        std::string text = schema(d, *f),
                    registered = d.entry->recorded ? recording(text, *f) : text;
        define_op(d, registered, *d.entry);
        for (const auto &one : d.entry->by_device)
            if (one) taeda::detail::compare("the C++ function", text, one->signature);
        if (d.entry->recorded) derive(d, registered);
        return str(d.space, "\x1f", d.name, "\x1f", f->kinds, d.entry->recorded ? "~" : "", "\x1f",
                   d.for_python ? "p" : "", "\x1e");
    }
    static void define_op(const Definition &d, const std::string &text, const Entry &entry)
    {
        std::string schema = d.space + "::" + text;
        taeda_op_def def{};
        taeda_error error{};
        def.size = sizeof def;
        def.schema = schema.c_str();
        def.doc = d.doc.c_str();
        def.user = const_cast<Entry *>(&entry);
        def.cpu = entry.by_device[TAEDA_CPU] ? run : nullptr;
        def.meta = entry.by_device[TAEDA_META] ? run : nullptr;
        def.cuda = entry.by_device[TAEDA_CUDA] ? run : nullptr;
        taeda::detail::check(taeda::api().define_op(&def, &error), error);
    }
    static void derive(const Definition &d, const std::string &text)
    {
        size_t at = text.find('(') + 1, count = 0;
        for (const std::string &piece : taeda::detail::pieces(text, at))
            count += taeda::detail::type_in(piece).compare(0, 6, "Tensor") == 0;
        std::string backward =
            str(d.space, "::", d.name, "__record(Tensor? result0, Tensor?[] grads) -> ",
                count > 1 ? "(" : "");
        for (size_t i = 0; i < count; i++) backward += i ? ", Tensor" : "Tensor";
        if (count > 1) backward += ")";
        std::string op = d.qualified();
        taeda_derivative made{};
        taeda_error error{};
        made.size = sizeof made;
        made.op = op.c_str();
        made.backward = backward.c_str();
        made.cpu = run_backward;
#ifdef TAEDA_WITH_CUDA
        made.cuda = run_backward;
#endif
        taeda::detail::check(taeda::api().define_derivative(&made, &error), error);
    }
    std::list<Definition> definitions_, kernels_;
    std::list<std::string> classes_;
    std::list<Listed> enumerations_;
    std::vector<std::function<void()>> fills_;
};
inline Registry &registry()
{
    static Registry made;
    return made;
}
/* Its address is taken where torch::autograd::Function is used: that tells the registry. */
template <class F> struct Records_used {
    static inline const bool told = (registry().records = true);
};
/* A function that runs when the core starts the library. */
struct Later {
    explicit Later(std::function<void()> fill) { registry().later(std::move(fill)); }
};

inline std::string described, described_classes;
}
}

TAEDA_TORCH_EXPORT_ uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
TAEDA_TORCH_EXPORT_ void taeda_ext_namespace(const char *name) { ::taeda::detail::space = name; }
TAEDA_TORCH_EXPORT_ int32_t taeda_ext_init(const taeda_api *api)
{
    taeda::detail::table = api;
    taeda_error error{};
    int32_t code = taeda::detail::guarded(&error, [] {
        at::detail::described = at::detail::registry().finish();
        at::detail::described_classes = at::detail::registry().classes();
    });
    if (code) taeda::detail::failure = error.message;
    return code;
}
TAEDA_TORCH_EXPORT_ const char *taeda_ext_results(void) { return ::at::detail::described.c_str(); }
TAEDA_TORCH_EXPORT_ const char *taeda_ext_classes(void)
{
    return ::at::detail::described_classes.c_str();
}
TAEDA_TORCH_EXPORT_ void taeda_ext_forget(int64_t number)
{
    ::at::detail::Objects::all().forget(number);
}
TAEDA_TORCH_EXPORT_ const char *taeda_ext_doc(void)
{
    return ::at::detail::registry().module_doc.c_str();
}
TAEDA_TORCH_EXPORT_ const char *taeda_ext_failure(void) { return ::taeda::detail::failure.c_str(); }
#endif
