/* ipc.c - device memory that other processes use. */
#define _GNU_SOURCE
#include "cuda/ipc.h"
#include "runtime/streams.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "cuda/pool_settings.h"
#include "runtime/alloc.h"

enum { SLOTS = 16384, PATH = 64 };
/* A slot's state with its turn: turn << 2 | state. A parcel of an earlier turn serves no more. */
enum { UNUSED, SENT, HELD, GIVEN_BACK };

typedef struct slot {
    uint32_t state;
    int32_t pid; /* of the receiver */
} slot;

typedef struct ledger {
    uint64_t token;
    slot slots[SLOTS];
} ledger;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what this process sent ---- */
static ledger *own;
static int own_file = -1;
static int own_pid;
static td_storage *sent[SLOTS];

static int nameless_file(void)
{
#ifdef MFD_CLOEXEC
    return memfd_create("taeda-ipc", MFD_CLOEXEC);
#else
    errno = ENOSYS; /* a system without them has no CUDA either */
    return -1;
#endif
}

static uint64_t new_token(void) /* no two processes of one number start at one time */
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)getpid() << 32 ^ ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

static td_status open_ledger(void)
{
    if (own && own_pid == getpid()) return TD_OK;
    own_file = nameless_file();
    void *made = own_file < 0 || ftruncate(own_file, sizeof(ledger))
                     ? MAP_FAILED
                     : mmap(NULL, sizeof(ledger), PROT_READ | PROT_WRITE, MAP_SHARED, own_file, 0);
    if (made == MAP_FAILED)
        return td_fail(TD_RUNTIME_ERROR, "cannot make the ledger of tensors that are sent: %s",
                       strerror(errno));
    own = made;
    own_pid = getpid();
    own->token = new_token();
    return TD_OK;
}

static bool is_over(const slot *s)
{
    uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) & 3;
    int32_t pid = __atomic_load_n(&s->pid, __ATOMIC_RELAXED);
    return state == GIVEN_BACK || (state == HELD && pid && kill(pid, 0) && errno == ESRCH);
}

int64_t td_cuda_ipc_collect(void)
{
    int64_t out = 0;
    for (int k = 0; own && own_pid == getpid() && k < SLOTS; k++) {
        if (!sent[k]) continue;
        if (!is_over(&own->slots[k])) {
            out++;
            continue;
        }
        uint32_t turn = own->slots[k].state >> 2;
        own->slots[k].pid = 0;
        __atomic_store_n(&own->slots[k].state, (turn + 1) << 2 | UNUSED, __ATOMIC_RELEASE);
        td_storage_drop(sent[k]);
        sent[k] = NULL;
    }
    return out;
}

static td_status find_slot(uint32_t *out)
{
    for (uint32_t k = 0; k < SLOTS; k++)
        if (!sent[k]) return *out = k, TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%d CUDA tensors are with other processes, which is as many as can be: let the "
                   "receivers release some",
                   SLOTS);
}

static void release_received(void *context, char *data, int64_t bytes);

static td_status find_memory(const td_storage *s, td_cuda_parcel *out)
{
    int ordinal = td_device_index(s->device), device;
    uint64_t base;
    size_t whole;
    if (s->release == release_received)
        return td_fail(
            TD_RUNTIME_ERROR,
            "a CUDA tensor that came from another process cannot be sent on: send a clone()");
    if (td_cuda_settings.async)
        return td_fail(TD_RUNTIME_ERROR, "memory of backend:cudaMallocAsync cannot be shared with "
                                         "other processes: use backend:native");
    TD_TRY(td_cuda_use(ordinal));
    TD_CU(td_cu.cuMemGetAddressRange_v2(&base, &whole, (uint64_t)(uintptr_t)s->data),
          "looking for the memory of a tensor");
    TD_CU(td_cu.cuIpcGetMemHandle(&out->memory, base), "sharing memory with another process");
    TD_CU(td_cu.cuDeviceGet(&device, ordinal), "choosing the device");
    TD_CU(td_cu.cuDeviceGetUuid_v2(out->uuid, device), "asking for the name of a device");
    out->offset = (int64_t)((uint64_t)(uintptr_t)s->data - base);
    out->bytes = s->nbytes;
    return TD_OK;
}

td_status td_cuda_ipc_send(td_storage *s, td_cuda_parcel *out)
{
    int ordinal = td_device_index(s->device);
    memset(out, 0, sizeof *out);
    td_cuda_ipc_collect();
    TD_TRY(find_memory(s, out));
    TD_TRY(td_cuda_note_wait("sending a tensor to another process"));
    TD_CU(td_cu.cuStreamSynchronize(td_cuda_stream(ordinal)), "waiting for a tensor that is sent");
    td_order_tell(TD_ORDER_STREAM_DONE, ordinal, td_cuda_stream(ordinal), NULL, 0);
    TD_TRY(open_ledger());
    TD_TRY(find_slot(&out->slot));
    slot *mine = &own->slots[out->slot];
    out->turn = mine->state >> 2;
    out->token = own->token;
    out->pid = own_pid;
    out->file = own_file;
    sent[out->slot] = td_storage_keep(s);
    __atomic_store_n(&mine->state, out->turn << 2 | SENT, __ATOMIC_RELEASE);
    return TD_OK;
}

/* ---- ledgers of others: mapped once, and kept ---- */
typedef struct known {
    struct known *next;
    uint64_t token;
    ledger *at;
} known;
static known *others;

static td_status gone(const td_cuda_parcel *p)
{
    return td_fail(TD_RUNTIME_ERROR,
                   "the process that sent a CUDA tensor (%d) has ended, or cannot be reached: it "
                   "must live until the tensor was received and released",
                   (int)p->pid);
}

static ledger *map_ledger(const td_cuda_parcel *p)
{
    char path[PATH];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->pid, (int)p->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return NULL;
    /* another file may stand there by now */
    off_t size = lseek(file, 0, SEEK_END);
    void *made = size == sizeof(ledger)
                     ? mmap(NULL, sizeof(ledger), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
    close(file);
    if (made == MAP_FAILED) return NULL;
    if (((ledger *)made)->token == p->token) return made;
    munmap(made, sizeof(ledger));
    return NULL;
}

static td_status ledger_of(const td_cuda_parcel *p, ledger **out)
{
    for (known *k = others; k; k = k->next)
        if (k->token == p->token) return *out = k->at, TD_OK;
    ledger *made = map_ledger(p);
    if (!made) return gone(p);
    known *k = td_alloc_struct(sizeof *k);
    if (!k) {
        munmap(made, sizeof(ledger));
        return td_fail(TD_MEMORY_ERROR, "no memory for the ledger of another process");
    }
    *k = (known){others, p->token, made};
    others = k;
    *out = made;
    return TD_OK;
}

/* ---- allocations of others: opened once, by their handles ---- */
typedef struct opened {
    struct opened *next;
    td_cuda_handle handle;
    char *base;
    int ordinal;
    int64_t users;
} opened;
static opened *allocations;

static td_status open_allocation(const td_cuda_parcel *p, int ordinal, opened **out)
{
    uint64_t base;
    for (opened *o = allocations; o; o = o->next)
        if (o->ordinal == ordinal && !memcmp(&o->handle, &p->memory, sizeof o->handle))
            return o->users++, *out = o, TD_OK;
    TD_CU(td_cu.cuIpcOpenMemHandle_v2(&base, p->memory, 1),
          "opening the memory of another process");
    opened *o = td_alloc_struct(sizeof *o);
    if (!o) {
        td_cu.cuIpcCloseMemHandle(base);
        return td_fail(TD_MEMORY_ERROR, "no memory to keep what another process sent");
    }
    *o = (opened){allocations, p->memory, (char *)(uintptr_t)base, ordinal, 1};
    allocations = o;
    *out = o;
    return TD_OK;
}

/* A driver that refuses keeps it open. */
static void close_allocation(opened *o)
{
    if (--o->users) return;
    opened **at = &allocations;
    while (*at != o) at = &(*at)->next;
    *at = o->next;
    td_cu.cuIpcCloseMemHandle((uint64_t)(uintptr_t)o->base);
    td_free_struct(o, sizeof *o);
}

/* ---- what this process received ---- */
typedef struct received {
    opened *of;
    slot *said;
    uint32_t turn;
} received;

static void release_received(void *context, char *data, int64_t bytes)
{
    received *r = context;
    if (td_cuda_forked()) return; /* it is the parent's */
    /* the sender hands the memory out again: nothing of this process may work on it then */
    if (td_cuda_use(r->of->ordinal) == TD_OK) td_cu.cuCtxSynchronize();
    pthread_mutex_lock(&lock);
    close_allocation(r->of);
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&r->said->state, r->turn << 2 | GIVEN_BACK, __ATOMIC_RELEASE);
    td_free_struct(r, sizeof *r);
}

static td_status claim(slot *s, uint32_t turn, uint32_t as)
{
    uint32_t expected = turn << 2 | SENT;
    if (__atomic_compare_exchange_n(&s->state, &expected, turn << 2 | as, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "a CUDA tensor that was sent has arrived before: a message serves once");
}

static td_status find_ordinal(const td_cuda_parcel *p, int *out)
{
    char uuid[16];
    int device;
    TD_TRY(td_device_open(TD_CUDA));
    for (*out = 0; *out < td_cuda_count(); ++*out)
        if (!td_cu.cuDeviceGet(&device, *out) && !td_cu.cuDeviceGetUuid_v2(uuid, device) &&
            !memcmp(uuid, p->uuid, sizeof uuid))
            return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "a CUDA tensor came from a device that this process does not "
                                     "see: let CUDA_VISIBLE_DEVICES of both name it");
}

static td_status storage_of(const td_cuda_parcel *p, received *r, int ordinal, td_storage **out)
{
    td_status status = td_storage_new(out, 0, TD_CPU); /* of no bytes: the sender has them */
    if (status) return status;
    (*out)->device = td_device_of(TD_CUDA, ordinal);
    (*out)->data = r->of->base + p->offset;
    (*out)->nbytes = p->bytes;
    (*out)->fixed = 1;
    (*out)->context = r;
    (*out)->release = release_received;
    return TD_OK;
}

static td_status arrive(const td_cuda_parcel *p, slot *said, int ordinal, td_storage **out)
{
    TD_TRY(td_cuda_use(ordinal));
    received *r = td_alloc_struct(sizeof *r);
    if (!r) return td_fail(TD_MEMORY_ERROR, "no memory for a tensor of another process");
    *r = (received){.said = said, .turn = p->turn};
    pthread_mutex_lock(&lock);
    td_status status = open_allocation(p, ordinal, &r->of);
    if (!status && (status = storage_of(p, r, ordinal, out))) close_allocation(r->of);
    pthread_mutex_unlock(&lock);
    if (status) td_free_struct(r, sizeof *r);
    return status;
}

td_status td_cuda_ipc_receive(const td_cuda_parcel *p, td_storage **out)
{
    ledger *from = NULL;
    int ordinal;
    if (p->slot >= SLOTS) return gone(p);
    if (own && own->token == p->token && own_pid == getpid()) { /* a message to oneself */
        TD_TRY(claim(&own->slots[p->slot], p->turn, GIVEN_BACK));
        *out = td_storage_keep(sent[p->slot]);
        td_cuda_ipc_collect();
        return TD_OK;
    }
    TD_TRY(find_ordinal(p, &ordinal));
    TD_TRY(ledger_of(p, &from));
    slot *said = &from->slots[p->slot];
    TD_TRY(claim(said, p->turn, HELD));
    __atomic_store_n(&said->pid, getpid(), __ATOMIC_RELAXED);
    td_status status = arrive(p, said, ordinal, out);
    if (status) __atomic_store_n(&said->state, p->turn << 2 | GIVEN_BACK, __ATOMIC_RELEASE);
    return status;
}
