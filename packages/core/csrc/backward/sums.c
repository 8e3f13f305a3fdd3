/* sums.c - gradients that come for one output of a node, added up.
 *
 * In 16 bits a running sum stops growing: 256 + 1 is 256 in bfloat16. So a sum of such gradients is
 * float32 until the walk comes to the node, and rounded once. What an output of 16 bits has:
 *
 *   grads   seconds
 *   16      -         one gradient
 *   16      16        two of them: their plain sum is rounded once as well, and needs no copy
 *   32      -         a sum, or one gradient that a rule gave in float32
 */
#include "dispatch/dispatch.h"
#include "backward/sums.h"

static int is_short(int dtype) { return dtype == TD_F16 || dtype == TD_BF16; }

/* A recorded run, whose tensors have another owner, copies it instead of writing to it; both give
 * a gradient of version 0. */
void td_forget_writes(PyObject *grad)
{
    td_tensor *t = TD_T(grad);
    if (!t->own_version) t->storage->version = 0;
}

PyObject *td_sum_fit(const Node *from, int index, const OutMeta *m, PyObject *grad)
{
    int kept = is_short(m->dtype) && TD_T(grad)->dtype == TD_F32 && !td_has_parts((PyTensor *)grad);
    if (!kept) return td_fit_gradient(from, index, m, grad);
    OutMeta wide = *m;
    wide.dtype = TD_F32;
    return td_fit_gradient(from, index, &wide, grad);
}

/* a + b, into the memory of a where only the walk sees it and the sum has its dtype. Takes a over.
 */
static PyObject *sum_of(const Run *r, PyObject *a, PyObject *b)
{
    int own = !r->create_graph && !td_dual_level && td_sole_owner(a) && td_is_dense(TD_T(a)) &&
              (TD_T(a)->dtype == TD_T(b)->dtype || is_short(TD_T(b)->dtype));
    PyObject *total = own ? td_add_into(a, b) : td_add(a, b);
    if (own && total) td_forget_writes(total);
    Py_DECREF(a);
    return total;
}

/* Takes grad over. */
static PyObject *converted(PyObject *grad, td_dtype dtype)
{
    static const td_function *copy;
    static PyObject *names;
    if (!copy) copy = td_find_function("", "_to_copy");
    if (!names) names = Py_BuildValue("(s)", "dtype");
    PyObject *args[] = {grad, td_dtype_object(dtype)},
             *made = copy && names && args[1] ? td_call_entry(copy, NULL, args, 1, names) : NULL;
    Py_XDECREF(args[1]);
    Py_DECREF(grad);
    return made;
}

/* A pair becomes its sum in float32. */
static int widen(const Run *r, Slot *s, uint32_t nr)
{
    PyObject *second = s->seconds[nr], *first = converted(s->grads[nr], TD_F32);
    s->seconds[nr] = NULL;
    s->grads[nr] = first ? sum_of(r, first, second) : NULL;
    Py_DECREF(second);
    return s->grads[nr] ? 0 : -1;
}

int td_sum_add(const Run *r, Slot *s, uint32_t nr, PyObject *grad)
{
    PyObject **sum = &s->grads[nr];
    int place = is_short(s->node->outs[nr].dtype), wide = place && TD_T(grad)->dtype == TD_F32;
    s->open |= (uint8_t)wide;
    if (!*sum) return *sum = grad, 0;
    int plain = !td_has_parts((PyTensor *)*sum) && !td_has_parts((PyTensor *)grad);
    if (place && plain && !wide && !s->seconds[nr] && is_short(TD_T(*sum)->dtype)) {
        s->seconds[nr] = grad;
        s->open = 1;
        return 0;
    }
    if (s->seconds[nr] && widen(r, s, nr) < 0) return Py_DECREF(grad), -1;
    *sum = sum_of(r, *sum, grad);
    Py_DECREF(grad);
    return *sum ? 0 : -1;
}

int td_sum_close(const Run *r, Slot *s)
{
    for (int k = 0; s->open && k < s->node->nouts; k++)
        if (s->seconds[k] && widen(r, s, (uint32_t)k) < 0) return -1;
    return 0;
}

int td_sum_round(const Run *r, Slot *s)
{
    for (int k = 0; s->open && k < s->node->nouts; k++) {
        PyObject *second = s->seconds[k];
        if (!s->grads[k]) continue;
        s->seconds[k] = NULL;
        if (second) {
            s->grads[k] = sum_of(r, s->grads[k], second);
            Py_DECREF(second);
        } else if (is_short(s->node->outs[k].dtype) && TD_T(s->grads[k])->dtype == TD_F32)
            s->grads[k] = converted(s->grads[k], (td_dtype)s->node->outs[k].dtype);
        if (!s->grads[k]) return -1;
    }
    s->open = 0;
    return 0;
}
