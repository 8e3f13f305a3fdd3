/* slots.c - Python's operators on tensors: a + b, -a, a < b, a @ b, a += b, int(a). */
#include "binding/binding.h"
#include "dispatch/dispatch.h"
#include "graph/node.h"

typedef struct Slot {
    const char *name, *text;
    const td_function *function;
    td_schema *schema;
} Slot;

static int find(Slot *s)
{
    if (s->function) return 1;
    s->function = td_find_function("", s->name);
    s->schema = td_find_schema(s->text);
    if (s->function && s->schema) return 1;
    PyErr_Format(PyExc_RuntimeError, "the op table has no %s", s->text);
    s->function = NULL;
    return 0;
}

/* an operand that no operator takes: let the other side try */
static int operand(PyObject *o) { return td_is_tensor(o) || td_is_number(o); }
/* or one that answers by itself; asked last, since most operands are tensors and numbers */
static int is_stranger(PyObject *o)
{
    return !operand(o) && PyObject_HasAttrString(o, "__torch_function__");
}

/* or one that a mode knows: a number of a trace for any size. If it were the other side's to
   answer, `x += n` would not write x */
static int has_say(PyObject *o)
{
    return operand(o) || is_stranger(o) || PyObject_HasAttrString(o, "__sym_float__") ||
           PyObject_HasAttrString(o, "__sym_not__");
}

/* a mode, or the type of a tensor, has a say: it gets a method, which Python's table names */
static int is_asked(PyObject *o) { return td_is_tensor(o) && td_is_asked(o); }
/* most calls are told without a call of a function: no mode is on, and both are plain tensors */
static inline int is_either_asked(PyObject *a, PyObject *b)
{
    if (td_is_exact(a) && td_is_exact(b) && !(td_here.layers & TD_LAYER_FUNCTION_MODE)) return 0;
    return is_asked(a) || is_asked(b);
}

static PyObject *ask(const char *op, PyObject *a, PyObject *b)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.operators", "ask_operator")) return NULL;
    return b ? PyObject_CallFunction(hook, "sOO", op, a, b)
             : PyObject_CallFunction(hook, "sO", op, a);
}

/* beside an operand that is no tensor, but has a __torch_function__: that one answers */
static PyObject *ask_stranger(const char *op, PyObject *a, PyObject *b)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.operators", "ask_stranger")) return NULL;
    return PyObject_CallFunction(hook, "sOO", op, a, b);
}

static PyObject *binary(Slot *s, PyObject *a, PyObject *b)
{
    if (is_either_asked(a, b)) {
        if (operand(a) && operand(b)) return ask(s->name, a, b);
        if (is_stranger(a) || is_stranger(b)) return ask_stranger(s->name, a, b);
    }
    PyObject *made = find(s) ? td_slot_binary(s->function, s->schema, a, b) : NULL;
    if (made != Py_NotImplemented || !(is_stranger(a) || is_stranger(b))) return made;
    Py_DECREF(made);
    return ask_stranger(s->name, a, b);
}

#define BINARY(c, op_name, op_text)                     \
    static PyObject *c(PyObject *a, PyObject *b)        \
    {                                                   \
        static Slot s = {op_name, op_text, NULL, NULL}; \
        return binary(&s, a, b);                        \
    }
BINARY(slot_add, "add", "add.Tensor")
BINARY(slot_sub, "sub", "sub.Tensor")
BINARY(slot_mul, "mul", "mul.Tensor")
BINARY(quotient, "div", "div.Tensor")
BINARY(slot_floordiv, "floor_divide", "floor_divide")
BINARY(slot_mod, "remainder", "remainder.Tensor")
BINARY(product, "matmul", "matmul")
BINARY(slot_and, "bitwise_and", "bitwise_and.Tensor")
BINARY(slot_or, "bitwise_or", "bitwise_or.Tensor")
BINARY(slot_xor, "bitwise_xor", "bitwise_xor.Tensor")
BINARY(slot_lshift, "bitwise_left_shift", "bitwise_left_shift.Tensor")
BINARY(slot_rshift, "bitwise_right_shift", "bitwise_right_shift.Tensor")
BINARY(is_equal, "eq", "eq.Tensor")
BINARY(is_other, "ne", "ne.Tensor")
BINARY(slot_lt, "lt", "lt.Tensor")
BINARY(slot_le, "le", "le.Tensor")
BINARY(slot_gt, "gt", "gt.Tensor")
BINARY(slot_ge, "ge", "ge.Tensor")

/* a number is no matrix: the other side may know what it is beside one */
static PyObject *slot_matmul(PyObject *a, PyObject *b)
{
    if (td_is_number(td_is_tensor(a) ? b : a)) Py_RETURN_NOTIMPLEMENTED;
    return product(a, b);
}

static PyObject *
named(Slot *s, int n,
      PyObject *const *args) /* through the parser: overloads matter, or it is in-place */
{
    if (!s->function && !(s->function = td_find_function("", s->name)))
        return PyErr_Format(PyExc_RuntimeError, "the op table has no %s", s->name);
    return td_apply(s->function, n, args);
}

static PyObject *slot_pow(PyObject *a, PyObject *b, PyObject *mod)
{
    static Slot s = {"pow", "", NULL, NULL};
    PyObject *const args[] = {a, b};
    if (is_stranger(a) || is_stranger(b)) return ask_stranger(s.name, a, b);
    if (!has_say(a) || !has_say(b)) Py_RETURN_NOTIMPLEMENTED;
    return is_either_asked(a, b) ? ask(s.name, a, b) : named(&s, 2, args);
}

#define UNARY(c, op_name)                                              \
    static PyObject *c(PyObject *a)                                    \
    {                                                                  \
        static Slot s = {op_name, "", NULL, NULL};                     \
        return is_asked(a) ? ask(op_name, a, NULL) : named(&s, 1, &a); \
    }
UNARY(slot_neg, "neg")
UNARY(slot_pos, "positive")
UNARY(slot_abs, "abs")
UNARY(slot_invert, "bitwise_not")

static PyObject *inplace(Slot *s, PyObject *a, PyObject *b)
{
    PyObject *const args[] = {a, b};
    if (!has_say(b)) Py_RETURN_NOTIMPLEMENTED;
    int by_method = is_either_asked(a, b) || is_stranger(b);
    return by_method ? ask(s->name, a, b) : named(s, 2, args);
}

#define INPLACE(c, op_name)                        \
    static PyObject *c(PyObject *a, PyObject *b)   \
    {                                              \
        static Slot s = {op_name, "", NULL, NULL}; \
        return inplace(&s, a, b);                  \
    }
static PyObject *slot_iadd(PyObject *a, PyObject *b)
{
    static Slot s = {"add_", "", NULL, NULL};
    /* Python takes what a subclass inherits as __iadd__ for a concatenation of sequences, too, and
       would give a NotImplemented of it to the program: nobody may decline here */
    return has_say(b) ? inplace(&s, a, b) : PyNumber_Add(a, b);
}
INPLACE(slot_isub, "sub_")
INPLACE(slot_imul, "mul_")
INPLACE(slot_idiv, "div_")
INPLACE(slot_ifloordiv, "floor_divide_")
INPLACE(slot_imod, "remainder_")
INPLACE(slot_iand, "bitwise_and_")
INPLACE(slot_ior, "bitwise_or_")
INPLACE(slot_ixor, "bitwise_xor_")
INPLACE(slot_ilshift, "bitwise_left_shift_")
INPLACE(slot_irshift, "bitwise_right_shift_")
static PyObject *slot_ipow(PyObject *a, PyObject *b, PyObject *mod)
{
    static Slot s = {"pow_", "", NULL, NULL};
    return inplace(&s, a, b);
}

/* ---- beside an array of numpy: it declines what a tensor could answer, and expects us to ---- */
static PyObject *beside_array(const char *name, PyObject *declined, PyObject *a, PyObject *b)
{
    if (declined != Py_NotImplemented || !(td_is_array(a) || td_is_array(b))) return declined;
    PyObject *module = PyImport_ImportModule("taeda._tensor.beside_arrays");
    PyObject *made = module ? PyObject_CallMethod(module, name, "OO", a, b) : NULL;
    Py_XDECREF(module);
    Py_DECREF(declined);
    return made;
}
static PyObject *slot_div(PyObject *a, PyObject *b)
{
    return beside_array("divide", quotient(a, b), a, b);
}
static PyObject *slot_eq(PyObject *a, PyObject *b)
{
    return beside_array("equal", is_equal(a, b), a, b);
}
static PyObject *slot_ne(PyObject *a, PyObject *b)
{
    return beside_array("not_equal", is_other(a, b), a, b);
}

static PyObject *slot_compare(PyObject *a, PyObject *b, int how)
{
    switch (how) {
        case Py_EQ: return slot_eq(a, b);
        case Py_NE: return slot_ne(a, b);
        case Py_LT: return slot_lt(a, b);
        case Py_LE: return slot_le(a, b);
        case Py_GT: return slot_gt(a, b);
        default: return slot_ge(a, b);
    }
}

static PyObject *one_number(PyObject *o, const char *as)
{
    const td_tensor *t = TD_T(o);
    if (t->numel == 1) return td_item_of(o);
    return PyErr_Format(PyExc_ValueError,
                        "only one element tensors can be converted to Python scalars: %s() of a "
                        "tensor with %lld elements",
                        as, (long long)t->numel);
}
static PyObject *slot_float(PyObject *o)
{
    if (td_is_asked(o)) return td_ask(o, "__float__", NULL);
    PyObject *v = one_number(o, "float"), *made = v ? PyNumber_Float(v) : NULL;
    if (v && PyComplex_Check(v)) {
        PyErr_Clear();
        made = PyComplex_ImagAsDouble(v) == 0
                   ? PyFloat_FromDouble(PyComplex_RealAsDouble(v))
                   : PyErr_Format(PyExc_RuntimeError,
                                  "value cannot be converted to type double without overflow");
    }
    Py_XDECREF(v);
    return made;
}
static PyObject *slot_int(PyObject *o)
{
    if (td_is_asked(o)) return td_ask(o, "__int__", NULL);
    PyObject *v = one_number(o, "int"), *made = v ? PyNumber_Long(v) : NULL;
    Py_XDECREF(v);
    return made;
}
static PyObject *slot_index(PyObject *o)
{
    if (td_is_asked(o)) return td_ask(o, "__index__", NULL);
    const td_tensor *t = TD_T(o);
    if (t->numel != 1 || !td_is_integral((td_dtype)t->dtype))
        return PyErr_Format(
            PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    PyObject *v = td_item_of(o), *made = v ? PyNumber_Long(v) : NULL;
    Py_XDECREF(v);
    return made;
}
static int asked_bool(PyObject *o)
{
    PyObject *made = td_ask(o, "__bool__", NULL);
    int yes = !made ? -1 : PyBool_Check(made) ? made == Py_True : -1;
    if (made && yes < 0)
        PyErr_Format(PyExc_TypeError, "__bool__ should return bool, returned %R", Py_TYPE(made));
    Py_XDECREF(made);
    return yes;
}

static Py_ssize_t asked_length(PyObject *o)
{
    PyObject *made = td_ask(o, "__len__", NULL);
    Py_ssize_t length = made ? PyNumber_AsSsize_t(made, PyExc_OverflowError) : -1;
    Py_XDECREF(made);
    if (length >= 0 || PyErr_Occurred()) return length;
    PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");
    return -1;
}

static Py_ssize_t slot_length(PyObject *o)
{
    if (td_is_asked(o)) return asked_length(o);
    if (TD_T(o)->ndim) return (Py_ssize_t)TD_T(o)->sizes[0];
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

static int slot_bool(PyObject *o)
{
    if (td_is_asked(o)) return asked_bool(o);
    const td_tensor *t = TD_T(o);
    if (t->numel == 1) {
        PyObject *v = td_item_of(o);
        int yes = v ? PyObject_IsTrue(v) : -1;
        Py_XDECREF(v);
        return yes;
    }
    PyErr_Format(PyExc_RuntimeError,
                 "Boolean value of Tensor with %s is ambiguous: it has %lld; use any() or all()",
                 t->numel ? "more than one value" : "no values", (long long)t->numel);
    return -1;
}

PyType_Slot td_number_slots[] = {{Py_nb_add, slot_add},
                                 {Py_nb_subtract, slot_sub},
                                 {Py_nb_multiply, slot_mul},
                                 {Py_nb_true_divide, slot_div},
                                 {Py_nb_floor_divide, slot_floordiv},
                                 {Py_nb_remainder, slot_mod},
                                 {Py_nb_matrix_multiply, slot_matmul},
                                 {Py_nb_and, slot_and},
                                 {Py_nb_or, slot_or},
                                 {Py_nb_xor, slot_xor},
                                 {Py_nb_lshift, slot_lshift},
                                 {Py_nb_rshift, slot_rshift},
                                 {Py_nb_power, slot_pow},
                                 {Py_nb_negative, slot_neg},
                                 {Py_nb_positive, slot_pos},
                                 {Py_nb_absolute, slot_abs},
                                 {Py_nb_invert, slot_invert},
                                 {Py_nb_inplace_add, slot_iadd},
                                 {Py_nb_inplace_subtract, slot_isub},
                                 {Py_nb_inplace_multiply, slot_imul},
                                 {Py_nb_inplace_true_divide, slot_idiv},
                                 {Py_nb_inplace_floor_divide, slot_ifloordiv},
                                 {Py_nb_inplace_remainder, slot_imod},
                                 {Py_nb_inplace_and, slot_iand},
                                 {Py_nb_inplace_or, slot_ior},
                                 {Py_nb_inplace_xor, slot_ixor},
                                 {Py_nb_inplace_lshift, slot_ilshift},
                                 {Py_nb_inplace_rshift, slot_irshift},
                                 {Py_nb_inplace_power, slot_ipow},
                                 {Py_tp_richcompare, slot_compare},
                                 {Py_nb_float, slot_float},
                                 {Py_nb_int, slot_int},
                                 {Py_nb_index, slot_index},
                                 {Py_nb_bool, slot_bool},
                                 {Py_sq_length, slot_length},
                                 {Py_mp_length, slot_length},
                                 {0}};
