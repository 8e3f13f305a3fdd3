/* table.c - rows of the op table by name, and the loops of its pointwise rows. */
#include "cpu/pointwise/wide_run.h"
#include "object/py.h"

const td_function *td_find_function(const char *namespace_, const char *name)
{
    for (int i = 0; i < td_function_count; i++)
        if (!strcmp(td_functions[i].name, name) && !strcmp(td_functions[i].namespace_, namespace_))
            return &td_functions[i];
    return NULL;
}

const td_function *td_clone_function(void)
{
    static const td_function *clone;
    return clone ? clone : (clone = td_find_function("", "clone"));
}

const td_function *td_copy_function(void)
{
    static const td_function *copy_;
    return copy_ ? copy_ : (copy_ = td_find_function("", "copy_"));
}

const td_function *td_detach_function(void)
{
    static const td_function *detach;
    return detach ? detach : (detach = td_find_function("", "detach"));
}

/* ---- rows that are defined at run time ---- */
/* dict: text -> capsule of a td_schema, which the one who entered it keeps alive for ever */
static PyObject *customs;

td_schema *td_find_custom(const char *text)
{
    PyObject *capsule = customs ? PyDict_GetItemString(customs, text) : NULL;
    return capsule ? PyCapsule_GetPointer(capsule, "taeda.custom") : NULL;
}

int td_enter_custom(td_schema *s)
{
    PyObject *capsule = PyCapsule_New(s, "taeda.custom", NULL);
    if (!customs && !(customs = PyDict_New())) Py_CLEAR(capsule);
    int bad = !capsule || PyDict_SetItemString(customs, s->text, capsule) < 0;
    Py_XDECREF(capsule);
    return bad ? -1 : 0;
}

void td_forget_custom(const char *text)
{
    /* it was not there: nothing to forget */
    if (customs && PyDict_DelItemString(customs, text) < 0) PyErr_Clear();
}

/* ---- every row by its text ---- */
static int by_text(const void *a, const void *b)
{
    return strcmp((*(td_schema *const *)a)->text, (*(td_schema *const *)b)->text);
}
td_schema *td_find_schema(const char *qualified)
{
    static td_schema **sorted;
    if (!strncmp(qualified, "aten::", strlen("aten::"))) qualified += strlen("aten::");
    if (strstr(qualified, "::")) return td_find_custom(qualified);
    if (!sorted) {
        if (!(sorted = PyMem_Malloc(sizeof *sorted * (size_t)(td_schema_count + 1)))) return NULL;
        for (int i = 0; i < td_schema_count; i++) sorted[i] = &td_schemas[i];
        qsort(sorted, (size_t)td_schema_count, sizeof *sorted, by_text);
    }
    td_schema probe = {.text = qualified}, *key = &probe;
    td_schema **hit = bsearch(&key, sorted, (size_t)td_schema_count, sizeof *sorted, by_text);
    return hit ? *hit : NULL;
}

td_status td_op_register(const char *qualified, int device_type, td_impl impl)
{
    td_schema *s = td_find_schema(qualified);
    if (!s) return td_fail(TD_VALUE_ERROR, "the op table has no '%s'", qualified);
    if (device_type <= TD_META || device_type >= TD_DEVICE_TYPES)
        return td_fail(TD_VALUE_ERROR, "device type %d is none that functions are registered for",
                       device_type);
    if (!s->on_device && !(s->on_device = calloc(TD_DEVICE_TYPES, sizeof *s->on_device)))
        return td_fail(TD_MEMORY_ERROR, "no memory to register a function for '%s'", qualified);
    s->on_device[device_type] = impl;
    return TD_OK;
}

/* ---- loops of pointwise ops, found by name ---- */
static int by_loop(const void *a, const void *b)
{
    return strcmp((*(td_schema *const *)a)->op.loop, (*(td_schema *const *)b)->op.loop);
}
void td_load_loops(void)
{
    td_schema **sorted = PyMem_Malloc(sizeof *sorted * (size_t)(td_schema_count + 1));
    int n = 0;
    for (int i = 0; sorted && i < td_schema_count; i++)
        if (td_schemas[i].kind == TD_KIND_POINTWISE) sorted[n++] = &td_schemas[i];
    if (!sorted) return;
    for (int i = 0; i < n; i++) sorted[i]->op.loops->numbers = td_find_numbers(sorted[i]->op.loop);
    qsort(sorted, (size_t)n, sizeof *sorted, by_loop);
    for (const td_loop_entry *const *table = td_loop_tables(); *table; table++)
        for (const td_loop_entry *e = *table; e->name; e++) {
            int lo = 0, hi = n;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (strcmp(sorted[mid]->op.loop, e->name) < 0) lo = mid + 1;
                else hi = mid;
            }
            for (; lo < n && !strcmp(sorted[lo]->op.loop, e->name); lo++)
                sorted[lo]->op.loops->entries[e->dtype] = e;
        }
    PyMem_Free(sorted);
}
