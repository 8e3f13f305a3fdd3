/* noted.c - the calls of a thread, in a list that grows until somebody fetches it. Rows of the op
 * table and operators of users are never freed, so a call keeps the address of its row. */
#define _POSIX_C_SOURCE 200809L
#include "dispatch/noted.h"

typedef struct noted {
    const td_schema *schema;
    int64_t start, end;
} noted;

typedef struct notes {
    int64_t count, room;
    noted rows[];
} notes;

/* Two words a thread: what a library keeps for each thread has little room. */
static TD_THREAD_LOCAL notes *here;
static TD_THREAD_LOCAL int64_t lost; /* calls that found no memory */

static int grow(void)
{
    int64_t count = here ? here->count : 0, room = here ? 2 * here->room : 1024;
    notes *more = realloc(here, sizeof *more + sizeof *more->rows * (size_t)room);
    if (!more) return lost++, 0;
    here = more;
    here->count = count;
    here->room = room;
    return 1;
}

void td_noted_add(const td_schema *schema, int64_t start)
{
    int64_t end = td_noted_now();
    if ((!here || here->count == here->room) && !grow()) return;
    here->rows[here->count++] = (noted){schema, start, end};
}

static void forget(void)
{
    free(here);
    here = NULL;
    lost = 0;
}

/* the place of a row among those named so far; -1 with an exception */
static int64_t place_of(const td_schema *schema, PyObject *names, const td_schema ***known)
{
    Py_ssize_t n = PyList_Size(names);
    for (Py_ssize_t k = 0; k < n; k++)
        if ((*known)[k] == schema) return k;
    const td_schema **more = PyMem_Realloc(*known, sizeof *more * (size_t)(n + 1));
    if (!more) return td_no_memory(), -1;
    *known = more;
    more[n] = schema;
    PyObject *name = PyUnicode_FromString(schema->text);
    int status = name ? PyList_Append(names, name) : -1;
    Py_XDECREF(name);
    return status < 0 ? -1 : n;
}

static int fill(int64_t *rows, PyObject *names)
{
    const td_schema **known = NULL;
    int status = 0;
    for (int64_t i = 0; status == 0 && here && i < here->count; i++) {
        int64_t place = place_of(here->rows[i].schema, names, &known);
        if (place < 0) status = -1;
        rows[3 * i] = place;
        rows[3 * i + 1] = here->rows[i].start;
        rows[3 * i + 2] = here->rows[i].end;
    }
    PyMem_Free(known);
    return status;
}

/* noted_calls() -> (lost, names, bytes): three int64 for each call, in the order of their ends */
static PyObject *noted_calls(PyObject *m, PyObject *unused)
{
    Py_ssize_t count = here ? (Py_ssize_t)here->count : 0;
    PyObject *names = PyList_New(0), *rows = PyBytes_FromStringAndSize(NULL, 24 * count),
             *made = NULL;
    if (names && rows && fill((int64_t *)PyBytes_AsString(rows), names) == 0) {
        made = Py_BuildValue("(LOO)", (long long)lost, names, rows);
        if (made) forget();
    }
    Py_XDECREF(names);
    Py_XDECREF(rows);
    return made;
}

static PyMethodDef methods[] = {
    {"noted_calls", noted_calls, METH_NOARGS,
     "(lost, names, three int64 for each: name, begin and end) of the kernels that this thread ran "
     "while set_tracing was 2, since the last call."},
    {0}};

PyMethodDef *td_noted_methods(void) { return methods; }
