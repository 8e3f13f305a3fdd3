/* arguments.h - what the parser of arguments is made of. */
#ifndef TD_ARGUMENTS_H
#define TD_ARGUMENTS_H
#include "dispatch/dispatch.h"

/* One overload tried on the arguments of a call, and why it did not fit. */
typedef struct td_attempt {
    PyObject *self, *const *args, *kwnames;
    Py_ssize_t npos, nkw;
    int missing, bad, surplus; /* index of the parameter, or -1 */
    PyObject *unknown;         /* keyword nobody knows, borrowed */
} td_attempt;

/* A list, tuple or Size; other sequences are no lists here. Items are borrowed: those of a list
 * until Python runs. */
static inline Py_ssize_t td_list_length(PyObject *o)
{
    return PyTuple_Check(o) ? PyTuple_Size(o) : PyList_Check(o) ? PyList_Size(o) : -1;
}
static inline PyObject *td_list_item(PyObject *o, Py_ssize_t i)
{
    return PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
}

/* ---- mismatch.c: TypeError for a call that no overload takes ---- */
void td_report_mismatch(const td_frame *f, const td_attempt *a);

/* ---- numbers_first.c: add(x, alpha, y), as older programs have it ---- */
enum { TD_MOST_FACTORS = 2, TD_MOST_SORTED = 8 };
/* 1: `sorted` is the same call in today's order, with `args`, TD_MOST_SORTED of them, and a
 * reference to its kwnames; 0: it is not of that kind; -1 with an exception */
int td_numbers_first(const td_function *fn, const td_attempt *a, PyObject **args,
                     td_attempt *sorted);
int td_warn_numbers_first(const td_function *fn);
/* does this operator take a bool for an int, and an int for a bool? (bind.c) */
int td_is_lenient(const td_frame *f);
/* an entry of a list of ints; beside a tensor of another layout also the size of a ragged dimension
 */
int td_entry_from(const td_frame *f, PyObject *o, int64_t *out);
#endif
