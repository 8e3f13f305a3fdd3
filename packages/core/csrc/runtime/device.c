/* device.c - the tables of the devices, and walks that are kept. */
#include "runtime/device.h"
#include <stdio.h>
#include <string.h>
#include "runtime/alloc.h"

const td_device_table *td_device_tables[TD_DEVICE_TYPES];

/* What a table has of slots up to now: one that was made for an earlier version is shorter. */
#define HAS(table, slot) \
    (offsetof(td_device_table, slot) + sizeof(table)->slot <= (table)->size && (table)->slot)

td_status td_device_register(int type, const td_device_table *table)
{
    if (type < 0 || type >= TD_DEVICE_TYPES || type == TD_META)
        return td_fail(TD_VALUE_ERROR,
                       "a device type is a number from 0 to %d and not meta's, got %d",
                       TD_DEVICE_TYPES - 1, type);
    if (td_device_tables[type])
        return td_fail(TD_RUNTIME_ERROR, "device type %d is taken by '%s'", type,
                       td_device_tables[type]->name);
    if (!HAS(table, name) || !HAS(table, count) || !HAS(table, alloc) || !HAS(table, release) ||
        !HAS(table, walk) || !HAS(table, transfer) || !HAS(table, synchronize))
        return td_fail(
            TD_VALUE_ERROR,
            "a device needs a name, count, alloc, release, walk, transfer and synchronize");
    __atomic_store_n(&td_device_tables[type], table, __ATOMIC_RELEASE);
    return TD_OK;
}

/* ---- types that are opened when somebody asks ---- */
const td_device_opener *td_device_openers[TD_DEVICE_TYPES];

static const td_device_table *table_at(int type)
{
    return __atomic_load_n(&td_device_tables[type], __ATOMIC_ACQUIRE);
}

td_status td_device_open(int type)
{
    if (table_at(type)) return TD_OK;
    if (td_device_openers[type]) return td_device_openers[type]->open();
    return td_fail(TD_RUNTIME_ERROR, "there is no device of type %d in this process", type);
}

int td_device_count(int type)
{
    const td_device_table *table = table_at(type);
    if (td_device_openers[type]) return td_device_openers[type]->count();
    return table ? table->count() : 0;
}

/* ---- devices with streams ---- */
static td_status without(int type, const char *what)
{
    char text[TD_DEVICE_TEXT];
    return td_fail(TD_NOT_IMPLEMENTED, "device '%s' has no %s",
                   td_device_text(td_device_of(type, 0), text), what);
}

int td_device_current(int type)
{
    const td_device_table *table = table_at(type);
    return table && HAS(table, current) ? table->current() : 0;
}

td_status td_device_use(td_device device)
{
    const td_device_table *table = td_table_of(device);
    return HAS(table, use) ? table->use(td_device_index(device)) : TD_OK;
}

void *td_device_stream(td_device device)
{
    const td_device_table *table = td_table_of(device);
    return table && HAS(table, stream) ? table->stream(td_device_index(device)) : NULL;
}

void td_device_set_stream(td_device device, void *stream)
{
    const td_device_table *table = td_table_of(device);
    if (HAS(table, set_stream)) table->set_stream(td_device_index(device), stream);
}

td_status td_device_follow(td_device device, void *first, void *later)
{
    const td_device_table *table = td_table_of(device);
    int ordinal = td_device_index(device);
    return HAS(table, follow) ? table->follow(ordinal, first, ordinal, later) : TD_OK;
}

td_status td_device_used(const td_tensor *t, void *stream)
{
    const td_device_table *table = td_table_of((td_device)t->device);
    return HAS(table, used) ? table->used(t, stream)
                            : without(td_device_type((td_device)t->device), "streams");
}

bool td_device_pins(int type)
{
    const td_device_table *table = table_at(type);
    return table && HAS(table, pin);
}

td_status td_device_pin(int type, td_tensor *t)
{
    return td_device_pins(type) ? table_at(type)->pin(t) : without(type, "pinned memory");
}

/* ---- walks that are kept ---- */
#define ELEMENT 16 /* bytes of the widest dtype */

typedef struct kept {
    td_walk walk;
    td_nd nd;
    _Alignas(16) char numbers[TD_MAX_OPERANDS][ELEMENT];
} kept;

td_status td_walk_copy(td_walk **out, const td_walk *w)
{
    kept *k = td_alloc_struct(sizeof *k);
    char *context = k && w->context_bytes ? td_alloc_struct(w->context_bytes) : NULL;
    if (!k || (w->context_bytes && !context)) {
        if (k) td_free_struct(k, sizeof *k);
        return td_fail(TD_MEMORY_ERROR, "no memory to keep an operation for later");
    }
    k->walk = *w;
    k->nd = *w->nd;
    k->walk.nd = &k->nd;
    if (context) memcpy(context, w->context, (size_t)w->context_bytes);
    k->walk.context = context;
    for (int i = 0; i < w->nd->nop; i++)
        if (w->numbers >> i & 1)
            k->nd.data[i] =
                memcpy(k->numbers[i], w->nd->data[i], (size_t)td_itemsize((td_dtype)w->dtypes[i]));
    *out = &k->walk;
    return TD_OK;
}

void td_walk_free(td_walk *w)
{
    if (!w) return;
    if (w->context) td_free_struct((void *)w->context, w->context_bytes);
    td_free_struct(w, sizeof(kept));
}

/* ---- the host reads ---- */
td_status td_element(const td_tensor *t, char place[16])
{
    int64_t bytes = td_itemsize((td_dtype)t->dtype);
    if (t->device == TD_CPU) return memcpy(place, td_data(t), (size_t)bytes), TD_OK;
    return td_table_of(t->device)->transfer(place, TD_CPU, td_data(t), t->device, bytes, true);
}

td_status td_to_host(td_tensor **out, const td_tensor *t)
{
    if (t->device == TD_CPU) return td_contiguous(out, t);
    td_tensor *host;
    TD_TRY(td_tensor_empty(&host, (td_dtype)t->dtype, TD_CPU, t->ndim, t->sizes));
    td_status status = td_copy(host, t);
    if (status == TD_OK) *out = host;
    else td_tensor_free(host);
    return status;
}

/* ---- asking ---- */
const char *td_device_text(td_device device, char buffer[TD_DEVICE_TEXT])
{
    int type = td_device_type(device);
    const char *name = type == TD_META          ? "meta"
                       : td_device_tables[type] ? td_device_tables[type]->name
                                                : "?";
    if (type == TD_CPU || type == TD_META) snprintf(buffer, TD_DEVICE_TEXT, "%s", name);
    else snprintf(buffer, TD_DEVICE_TEXT, "%.24s:%d", name, td_device_index(device));
    return buffer;
}

td_device td_common_device(int n, td_tensor *const *tensors)
{
    for (int i = 0; i < n; i++)
        if (tensors[i] && tensors[i]->device != TD_CPU) return tensors[i]->device;
    return TD_CPU;
}
