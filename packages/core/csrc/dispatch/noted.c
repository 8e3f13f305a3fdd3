/* noted.c - the calls of a thread, in a list that grows until somebody fetches it. Rows of the op
 * table and operators of users are never freed, so a call keeps the address of its row. */
#define _POSIX_C_SOURCE 200809L
#include "dispatch/noted.h"

typedef struct noted {
    const td_schema *schema;
    int64_t start, end;
} noted;

static TD_THREAD_LOCAL struct {
    noted *rows;
    int64_t count, room, lost;
} here;

static int grow(void)
{
    int64_t room = here.room ? 2 * here.room : 1024;
    noted *rows = realloc(here.rows, sizeof *rows * (size_t)room);
    if (!rows) return here.lost++, 0;
    here.rows = rows;
    here.room = room;
    return 1;
}

void td_noted_add(const td_schema *schema, int64_t start)
{
    int64_t end = td_noted_now();
    if (here.count == here.room && !grow()) return;
    here.rows[here.count++] = (noted){schema, start, end};
}

static void forget(void)
{
    free(here.rows);
    here.rows = NULL;
    here.count = here.room = here.lost = 0;
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
    for (int64_t i = 0; status == 0 && i < here.count; i++) {
        int64_t place = place_of(here.rows[i].schema, names, &known);
        if (place < 0) status = -1;
        rows[3 * i] = place;
        rows[3 * i + 1] = here.rows[i].start;
        rows[3 * i + 2] = here.rows[i].end;
    }
    PyMem_Free(known);
    return status;
}

/* noted_calls() -> (lost, names, bytes): three int64 for each call, in the order of their ends */
static PyObject *noted_calls(PyObject *m, PyObject *unused)
{
    PyObject *names = PyList_New(0),
             *rows = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(24 * here.count)), *made = NULL;
    if (names && rows && fill((int64_t *)PyBytes_AsString(rows), names) == 0) {
        made = Py_BuildValue("(LOO)", (long long)here.lost, names, rows);
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
