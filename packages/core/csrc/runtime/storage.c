/* storage.c - reference-counted bytes. */
#include <stdlib.h>
#include "runtime/alloc.h"
#include "runtime/device.h"
#include "runtime/shared.h"

/* Bytes and who takes them back: the processor's own go by td_alloc, with `release` NULL. */
typedef struct bytes {
    char *data;
    void *block;
    void (*release)(void *block, char *data, int64_t nbytes);
} bytes;

uint32_t td_storage_age = 0;

static td_status take_bytes(bytes *out, int64_t nbytes, td_device device)
{
    *out = (bytes){NULL, NULL, NULL};
    if (nbytes == 0 || device == TD_META) return TD_OK;
    if (device != TD_CPU) {
        TD_TRY(td_table_of(device)->alloc(&out->data, nbytes, device, &out->block));
        out->release = td_table_of(device)->release;
        return TD_OK;
    }
    out->data = td_alloc(nbytes);
    if (out->data) return TD_OK;
    return td_fail(TD_MEMORY_ERROR, "out of memory: a storage of %lld bytes could not be allocated",
                   (long long)nbytes);
}

static void give_bytes(const bytes *b, int64_t nbytes)
{
    if (b->release) b->release(b->block, b->data, nbytes);
    else if (b->data) td_free(b->data, nbytes);
}

static bytes bytes_of(const td_storage *s) { return (bytes){s->data, s->context, s->release}; }

static td_status move_bytes(char *to, const char *from, int64_t nbytes, td_device device)
{
    if (!to || !from || !nbytes) return TD_OK;
    return td_table_of(device)->transfer(to, device, from, device, nbytes, true);
}

static td_status check_size(int64_t nbytes)
{
    if (nbytes >= 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "a storage cannot have %lld bytes: the size must not be negative",
                   (long long)nbytes);
}

td_status td_storage_new(td_storage **out, int64_t nbytes, td_device device)
{
    TD_TRY(check_size(nbytes));
    bytes b;
    TD_TRY(take_bytes(&b, nbytes, device));
    td_storage *s = td_alloc_struct(sizeof *s);
    if (!s) {
        give_bytes(&b, nbytes);
        return td_fail(TD_MEMORY_ERROR, "out of memory: no room for a storage object");
    }
    *s = (td_storage){.data = b.data,
                      .nbytes = nbytes,
                      .refs = 1,
                      .born = __atomic_load_n(&td_storage_age, __ATOMIC_RELAXED),
                      .device = device,
                      .release = b.release,
                      .context = b.block};
    *out = s;
    return TD_OK;
}

td_storage *td_storage_keep(td_storage *s)
{
    __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void td_storage_drop(td_storage *s)
{
    if (!s) return;
    if (s->listed) {
        if (!td_shared_leave(s)) return;
        /* the only owner need not count: nobody else can reach it */
    } else if (__atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) != 1 &&
               __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    bytes b = bytes_of(s);
    give_bytes(&b, s->nbytes);
    td_free_struct(s, sizeof *s);
}

td_status td_storage_resize(td_storage *s, int64_t nbytes)
{
    TD_TRY(check_size(nbytes));
    if (s->fixed)
        return td_fail(TD_RUNTIME_ERROR,
                       "a storage of %lld bytes cannot be resized to %lld: its memory belongs to "
                       "another owner",
                       (long long)s->nbytes, (long long)nbytes);
    if (nbytes == s->nbytes) return TD_OK;
    td_tensor *other; /* on the new memory, and after the exchange on the old */
    TD_TRY(td_tensor_empty(&other, TD_U8, (td_device)s->device, 1, &nbytes));
    td_status status = move_bytes(other->storage->data, s->data,
                                  nbytes < s->nbytes ? nbytes : s->nbytes, s->device);
    if (status != TD_OK) {
        td_tensor_free(other);
        return status;
    }
    td_storage_swap(s, other->storage);
    td_tensor_retire(other, s);
    return TD_OK;
}

/* Readers without the interpreter lock see the one address or the other. */
void td_storage_swap(td_storage *a, td_storage *b)
{
    td_storage was = *a;
    __atomic_store_n(&a->data, b->data, __ATOMIC_RELEASE);
    a->nbytes = b->nbytes;
    a->release = b->release;
    a->context = b->context;
    a->fixed = b->fixed;
    b->data = was.data;
    b->nbytes = was.nbytes;
    b->release = was.release;
    b->context = was.context;
    b->fixed = was.fixed;
}

void td_tensor_retire(td_tensor *t, td_storage *s)
{
    if (!s->pins) {
        td_tensor_free(t);
        return;
    }
    t->next = s->left;
    s->left = t;
}

void td_storage_settle(td_storage *s)
{
    td_tensor *next, *t = s->left;
    s->left = NULL; /* the last handle may take `s` along */
    for (; t; t = next) {
        next = t->next;
        td_tensor_free(t);
    }
}
