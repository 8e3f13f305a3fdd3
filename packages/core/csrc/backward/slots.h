/* slots.h - what one walk knows of the nodes it meets: gradients so far, and which node is next.
 *
 * A table finds the slot of a node by its address, and a heap gives the slot with the largest
 * number. Both are of the engine alone, and inline, since every edge of a graph passes them. */
#ifndef TD_BACKWARD_SLOTS_H
#define TD_BACKWARD_SLOTS_H
#include "backward/backward.h"

typedef struct Slot {
    Node *node;         /* owned */
    PyObject **grads;   /* owned, one per output */
    PyObject **seconds; /* owned, one per output: in 16 bits, what waits to be added (sums.c) */
    uint8_t queued, visited;
    uint8_t open;   /* some sums are not rounded */
    uint8_t needed; /* the walk comes by: it leads to a capture, or is one */
    uint8_t passes; /* it leads to a capture behind it, so its rule runs */
} Slot;

typedef struct Capture {
    Node *node;
    uint32_t nr;
    PyObject *grad;  /* owned */
    PyObject *parts; /* owned list of what came, one by one, where that is asked for */
} Capture;

typedef struct Run {
    Slot **table; /* open addressing by node address */
    Slot **heap;
    size_t capacity, count, heap_n, heap_cap;
    Capture *captures;
    int ncaptures, limited; /* limited: only nodes on the way to the captures run */
    int accumulate, keep, create_graph;
    int ends; /* 1: nothing behind a capture runs. 2: nor are gradients of captures summed. 3: as 1,
               * and sums of captures are not rounded to 16 bits */
    Slot *now;                      /* whose node is being visited */
    void *home[TD_DEVICE_ORDINALS]; /* streams of the caller, of the devices in `moved` */
    uint32_t moved;                 /* bit k: the walk has changed the stream of device k */
} Run;

/* ---- slots ---- */
static inline size_t place(const Run *r, const Node *n)
{
    size_t i = ((uintptr_t)n >> 4) * 0x9E3779B97F4A7C15ull >> 20;
    for (i &= r->capacity - 1; r->table[i] && r->table[i]->node != n;
         i = (i + 1) & (r->capacity - 1)) {}
    return i;
}

static inline int grow(Run *r)
{
    size_t old = r->capacity;
    Slot **before = r->table;
    r->capacity = old ? 2 * old : 64;
    if (!(r->table = PyMem_Calloc(r->capacity, sizeof *r->table)))
        return td_no_memory(), r->table = before, r->capacity = old, -1;
    for (size_t i = 0; i < old; i++)
        if (before[i]) r->table[place(r, before[i]->node)] = before[i];
    PyMem_Free(before);
    return 0;
}

static inline const Slot *known_slot(const Run *r, const Node *n) { return r->table[place(r, n)]; }

static inline Slot *slot_of(Run *r, Node *n)
{
    if (2 * (r->count + 1) > r->capacity && grow(r) < 0) return NULL;
    size_t i = place(r, n);
    if (r->table[i]) return r->table[i];
    int outs = n->nouts ? n->nouts : 1;
    Slot *s = PyMem_Calloc(1, sizeof *s + 2 * (size_t)outs * sizeof(PyObject *));
    if (!s) return (Slot *)td_no_memory();
    s->node = (Node *)Py_NewRef((PyObject *)n);
    s->grads = (PyObject **)(s + 1);
    s->seconds = s->grads + outs;
    s->needed = s->passes = 1;
    r->count++;
    return r->table[i] = s;
}

static inline void run_close(Run *r)
{
    for (size_t i = 0; i < r->capacity; i++) {
        Slot *s = r->table[i];
        if (!s) continue;
        for (int k = 0; k < s->node->nouts; k++) {
            Py_XDECREF(s->grads[k]);
            Py_XDECREF(s->seconds[k]);
        }
        Py_DECREF(s->node);
        PyMem_Free(s);
    }
    for (int i = 0; i < r->ncaptures; i++) {
        Py_XDECREF((PyObject *)r->captures[i].node);
        Py_XDECREF(r->captures[i].grad);
        Py_XDECREF(r->captures[i].parts);
    }
    PyMem_Free(r->captures);
    PyMem_Free(r->table);
    PyMem_Free(r->heap);
}

/* ---- heap: largest seq first ---- */
static inline int push(Run *r, Slot *s)
{
    if (s->queued) return 0;
    if (r->heap_n == r->heap_cap) {
        size_t cap = r->heap_cap ? 2 * r->heap_cap : 64;
        Slot **heap = PyMem_Realloc(r->heap, cap * sizeof *heap);
        if (!heap) return td_no_memory(), -1;
        r->heap = heap;
        r->heap_cap = cap;
    }
    s->queued = 1;
    size_t i = r->heap_n++;
    for (; i && r->heap[(i - 1) / 2]->node->seq < s->node->seq; i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = s;
    return 0;
}

static inline Slot *pop(Run *r)
{
    Slot *top = r->heap[0], *last = r->heap[--r->heap_n];
    size_t i = 0, c;
    for (; (c = 2 * i + 1) < r->heap_n; i = c) {
        if (c + 1 < r->heap_n && r->heap[c + 1]->node->seq > r->heap[c]->node->seq) c++;
        if (r->heap[c]->node->seq <= last->node->seq) break;
        r->heap[i] = r->heap[c];
    }
    r->heap[i] = last;
    top->queued = 0;
    return top;
}

#endif
