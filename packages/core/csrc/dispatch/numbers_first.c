/* numbers_first.c - the order of older programs, in which a number stands before the tensor that it
 * scales: x.add_(2, y), addcmul(x, 2, y, z), addmm(beta, x, alpha, a, b). The numbers are the
 * keywords `beta`, `alpha`, `value` of today, in this order. */
#include "dispatch/arguments.h"

/* the first keyword of the schema from the k-th on that such a number is; -1 if there is none */
static int next_factor(const td_schema *s, int k)
{
    for (; k < s->nparams; k++) {
        const td_param *p = &s->params[k];
        int factor =
            !strcmp(p->name, "alpha") || !strcmp(p->name, "beta") || !strcmp(p->name, "value");
        if (k >= s->npositional && p->type == TD_T_SCALAR && factor) return k;
    }
    return -1;
}

/* where the n-th number stands: beta before all, alpha or value before the tensors that it scales;
 * self comes in between, if it is an argument */
static Py_ssize_t place_of(const td_attempt *a, const char *first, int n)
{
    int own = !a->self;
    return strcmp(first, "beta") ? own : n ? 1 + own : 0;
}

/* Splits the arguments into numbers in their places, with their names, and all others: how many
 * numbers there are. */
static int split(const td_schema *s, const td_attempt *a, PyObject **numbers, PyObject **others,
                 const char **names)
{
    int n = 0, k = next_factor(s, 0), others_n = 0;
    for (Py_ssize_t i = 0; i < a->npos; i++) {
        int number = k >= 0 && n < TD_MOST_FACTORS && td_is_number(a->args[i]);
        if (!number || i != place_of(a, n ? names[0] : s->params[k].name, n)) {
            others[others_n++] = a->args[i];
            continue;
        }
        numbers[n] = a->args[i];
        names[n++] = s->params[k].name;
        k = next_factor(s, k + 1);
    }
    return n;
}

static PyObject *joined_names(const td_attempt *a, const char *const *names, int numbers)
{
    PyObject *tuple = PyTuple_New(numbers + a->nkw);
    for (Py_ssize_t i = 0; tuple && i < numbers + a->nkw; i++) {
        PyObject *name = i < numbers ? PyUnicode_FromString(names[i])
                                     : Py_NewRef(PyTuple_GetItem(a->kwnames, i - numbers));
        if (!name || PyTuple_SetItem(tuple, i, name) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

int td_numbers_first(const td_function *fn, const td_attempt *a, PyObject **args,
                     td_attempt *sorted)
{
    const char *names[TD_MOST_FACTORS];
    PyObject *numbers[TD_MOST_FACTORS];
    if (fn->count != 1 || a->npos + a->nkw > TD_MOST_SORTED) return 0;
    int n = split(fn->overloads[0], a, numbers, args, names);
    if (!n) return 0;
    for (int i = 0; i < n; i++) args[a->npos - n + i] = numbers[i];
    for (Py_ssize_t i = a->npos; i < a->npos + a->nkw; i++) args[i] = a->args[i];
    PyObject *kwnames = joined_names(a, names, n);
    *sorted = (td_attempt){a->self, args, kwnames, a->npos - n, a->nkw + n, -1, -1, -1, NULL};
    return kwnames ? 1 : -1;
}

int td_warn_numbers_first(const td_function *fn)
{
    static uint8_t warned; /* once a process, for programs do this in loops */
    if (warned) return 0;
    warned = 1;
    return PyErr_WarnFormat(PyExc_UserWarning, 1,
                            "%s() with a number before the tensors is deprecated: give the number "
                            "by its keyword, %s=, behind them",
                            fn->name,
                            fn->overloads[0]->params[next_factor(fn->overloads[0], 0)].name);
}
