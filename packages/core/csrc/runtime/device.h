/* device.h - what the core asks of a device: one table for each type, the processor's is the first.
 *
 *   operator (ops/) ──td_walk──▶ td_walk_run ──▶ table[type]->walk      cpu/run/device.c, or another device's own
 *   storage ──────────────────────────────────▶ table[type]->alloc      bytes that only this device may touch
 *   copies between devices ───────────────────▶ table[type]->transfer
 *
 * A walk is a value: it is run at once, or copied (td_walk_copy) and run later, or joined with
 * others. */
#ifndef TD_DEVICE_H
#define TD_DEVICE_H
#include "runtime/loops.h"
#include "runtime/streams.h"

typedef enum td_walk_kind {
    TD_WALK_LOOP, /* `entry`: operand 0 is written, the others are read */
    /* operand 1 into operand 0, with conversion of the dtype; operand 1 may be a number: then a
       fill */
    TD_WALK_COPY,
    TD_WALK_NEGATE, /* operand 0 changes its sign in place */
} td_walk_kind;

typedef struct td_walk {
    td_walk_kind kind;
    /* bit k: nd->data[k] lies in the host's memory and holds one element */
    uint32_t numbers;
    uint8_t dtypes[TD_MAX_OPERANDS]; /* of the operands as they lie in memory */
    /* the processor's loop, and the name and dtype under which a device knows its own */
    const td_loop_entry *entry;
    const void *context; /* what the loop is given: the arguments of the call */
    int64_t context_bytes;
    /* nanoseconds per element and thread of the processor, about */
    double cost;
    const td_nd *nd;
    /* NULL; or some operands are as wide as loops of short floats compute (td_row_dtype), where
     * entry->dtype is one: then the processor's loop of that wide dtype */
    const td_loop_entry *wide;
    td_loop number; /* of td_number_loops, for the same work; NULL: none */
} td_walk;

struct td_reduce_plan; /* ops/reduction/plan.h */
struct td_product;     /* cpu/matmul/gemm_run.h */

/* Slots are only appended. A device without a slot's work leaves it NULL: operators that need it
 * refuse. */
typedef struct td_device_table {
    uint32_t size; /* sizeof the table of whoever made it */
    const char *name;
    int (*count)(void); /* how many devices of this type there are */
    /* `block` is what `release` gets as its first argument: from any thread, with or without the
     * interpreter's lock; it cannot fail */
    td_status (*alloc)(char **out, int64_t bytes, td_device device, void **block);
    void (*release)(void *block, char *data, int64_t bytes);
    td_status (*walk)(const td_walk *w, td_device device);
    /* Bytes from one device to another, one of them may be the host. When `wait` is false the call
     * may return before they are there: work that comes later on that device sees them. */
    td_status (*transfer)(char *to, td_device to_device, const char *from, td_device from_device,
                          int64_t bytes, bool wait);
    td_status (*reduce)(const struct td_reduce_plan *plan, td_device device);
    td_status (*gemm)(const struct td_product *product, td_device device);
    td_status (*synchronize)(td_device device);
    /* Does gemm take float16 and bfloat16 as they are, bias too? Else they become float32 first. */
    bool short_products;
    /* ---- devices with streams; `stream` NULL is the default one ---- */
    int (*current)(void);          /* the device of this thread */
    td_status (*use)(int ordinal); /* what calls the device's own library finds this one current */
    void *(*stream)(int ordinal);  /* of this thread */
    void (*set_stream)(int ordinal, void *stream);
    /* Later work of stream `later` comes after what stream `first` has now. */
    td_status (*follow)(int first_device, void *first, int later_device, void *later);
    /* Another stream works on the tensor's memory: it serves again when that work is done. */
    td_status (*used)(const td_tensor *t, void *stream);
    /* `t` is on the cpu and nobody else knows its memory yet: it moves to where the device copies
     * from and to on its own. */
    td_status (*pin)(td_tensor *t);
} td_device_table;

extern const td_device_table *td_device_tables[TD_DEVICE_TYPES]; /* NULL: that type is not there */

/* A type that is opened when somebody first asks for it; filled by the binding, or NULL. */
typedef struct td_device_opener {
    td_status (*open)(void); /* registers the table, or says why not */
    int (*count)(void);      /* devices, before it is opened too; 0 where they cannot be used */
} td_device_opener;
extern const td_device_opener *td_device_openers[TD_DEVICE_TYPES];

/* RuntimeError with the reason unless that type is there from now on. */
td_status td_device_open(int type);
int td_device_count(int type);

/* Make a type of device available. Refuses a type that is taken and a table without alloc, release,
 * walk and transfer. */
td_status td_device_register(int type, const td_device_table *table);

static inline const td_device_table *td_table_of(td_device device)
{
    return td_device_tables[td_device_type(device)];
}
static inline bool td_on_host(const td_tensor *t) { return t->device == TD_CPU; }
/* Has it memory at all? Meta tensors have none. */
static inline bool td_has_memory(td_device device) { return td_device_type(device) != TD_META; }

/* Slots of devices with streams, for devices of any type; without the slot: 0, NULL and nothing. */
int td_device_current(int type);
td_status td_device_use(td_device device);
void *td_device_stream(td_device device);
void td_device_set_stream(td_device device, void *stream);
td_status td_device_follow(td_device device, void *first, void *later);
/* NotImplementedError without the slot. */
td_status td_device_used(const td_tensor *t, void *stream);
td_status td_device_pin(int type, td_tensor *t);
bool td_device_pins(int type);

/* The one place where elementwise work starts. */
static inline td_status td_walk_run(const td_walk *w, td_device device)
{
    return td_table_of(device)->walk(w, device);
}

/* A walk that outlives the call it came from: the geometry, numbers and the context are copied. */
td_status td_walk_copy(td_walk **out, const td_walk *w);
void td_walk_free(td_walk *w); /* NULL is fine */

/* "cpu", "cuda:1" into a caller's buffer, for messages */
#define TD_DEVICE_TEXT 32
const char *td_device_text(td_device device, char buffer[TD_DEVICE_TEXT]);

/* One element in the host's memory: `place` holds any dtype. Waits for work on its device. */
td_status td_element(const td_tensor *t, char place[16]);
/* A copy on the cpu, row-major; an alias of a tensor that is that already. */
td_status td_to_host(td_tensor **out, const td_tensor *t);

/* Where operators on such tensors compute: the first device that is not the host's, because numbers
 * of the host are welcome anywhere. */
td_device td_common_device(int n, td_tensor *const *tensors);

#endif
