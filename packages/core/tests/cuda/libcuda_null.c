/* libcuda_null.c - a stand-in for libcuda.so.1 on a machine without a GPU; TAEDA_LIBCUDA names it.
 *
 * Device memory is host memory that is closed (PROT_NONE) except while a copy or a launch runs, so
 * host code that follows a device pointer faults. An image of a module is the path of a shared
 * library of emulated kernels (emulate.h). Settings:
 *
 *   TAEDA_NULL_DEVICES=2       how many devices there are
 *   TAEDA_NULL_MIB=4096        memory of each
 *   TAEDA_NULL_PROTECT=0       leave memory open: for measuring
 *   TAEDA_NULL_SKIP=1          launches are counted and do nothing: for measuring the host's part
 *   TAEDA_NULL_LATE=1          work of a stream runs when somebody waits for it, and no other stream's
 *                              with it: a missing wait shows as a wrong number
 *   TAEDA_NULL_PEERS=0         no device reaches another's memory
 *   TAEDA_NULL_HOST_MIB=4096   page-locked memory that can be had
 *   TAEDA_NULL_IPC=0           no memory can be shared with other processes
 *   TAEDA_NULL_VERSION=11080   the CUDA that the driver serves; 13000
 *   TAEDA_NULL_FAIL=name:n:c   the n-th call of entry point `name` answers with code c; 700 and above stay for good
 *
 * CUDA_VISIBLE_DEVICES holds ordinals, beginnings of UUIDs ("GPU-...") or names of MIG instances
 * ("MIG-..."), as the driver reads them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>

#define ENTRY __attribute__((visibility("default"))) int
enum {
    OK,
    INVALID,
    NO_MEMORY,
    NOT_STARTED,
    NO_DEVICE = 100,
    BAD_DEVICE,
    BAD_IMAGE = 200,
    BAD_CONTEXT = 201,
    BAD_HANDLE = 400,
    NOT_IN_CAPTURE = 900, /* in a capture, which is lost by it */
    LOST_CAPTURE = 901,
    CROSSED = 905,      /* captured work would wait for other work */
    OF_DEFAULT = 906,   /* the default stream would wait for captured work */
    CAPTURED = 907,     /* an event of a capture answers nobody */
    LEFT_CAPTURE = 904, /* of a stream that joined and was not waited for */
    NOT_FOUND = 500
};
enum { DEVICES = 16, SEGMENTS = 4096 };

typedef struct {
    const char *name;
    int (*run)(unsigned grid, unsigned block, void **arguments);
    size_t bytes;
} emulated;
typedef struct {
    const emulated *kernels;
} module;
/* Records of an event submitted and performed; of one for other processes they lie in shared
 * memory. */
typedef struct {
    volatile long wanted, done;
} records;
typedef struct event {
    double at;
    records *seen, own;
    int remote, place;           /* of another process; which of the shared ones */
    int timed, blocking, owners; /* owners: who made it, and the works that name it */
    struct stream *on;
    long asked;             /* questions answered with no */
    struct graph *captured; /* it was last recorded into that */
    struct brought *before; /* the captured work that it marks */
} event;
/* captured work of another stream, up to its number */
typedef struct brought {
    struct brought *next;
    const struct stream *of;
    long work;
} brought;
typedef struct stream {
    struct work *first, **last;
    int device, priority;
    long asked;
    struct stream *next;
    struct graph *into;      /* what work of this stream is captured into */
    long work;               /* of its own in that */
    struct brought *brought; /* of others, that it comes after */
} stream;

static struct {
    char *data;
    size_t bytes;
    int device;
    off_t at; /* where it lies in `shared`; -1: of another process */
    char origin[64];
} segments[SEGMENTS];
static int shared = -1, ipc = 1; /* a file without a name: the memory of all devices */
static off_t shared_end;
static struct {
    char *data;
    size_t bytes;
} hosts[SEGMENTS]; /* page-locked */
static struct {
    size_t size, used;
    int physical; /* which one it is without CUDA_VISIBLE_DEVICES */
    stream null;
    int peers;
} devices[DEVICES];
static size_t host_size, host_used;
static int ndevices, started, protect = 1, late, skip, sticky, peers = 1;
static long fail_at, fail_code, calls;
static char fail_name[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current = -1;

/* in this order: each uses what those before it have */
#include "null/faults.h"
#include "null/work.h"
#include "null/devices.h"
#include "null/graphs.h"
#include "null/memory.h"
#include "null/streams.h"
#include "null/kernels.h"

/* ---- errors ---- */
ENTRY cuGetErrorName(int code, const char **name)
{
    *name = code == OK           ? "CUDA_SUCCESS"
            : code == INVALID    ? "CUDA_ERROR_INVALID_VALUE"
            : code == NO_MEMORY  ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == NO_DEVICE  ? "CUDA_ERROR_NO_DEVICE"
            : code == BAD_DEVICE ? "CUDA_ERROR_INVALID_DEVICE"
            : code == BAD_HANDLE ? "CUDA_ERROR_INVALID_HANDLE"
            : code == NOT_FOUND  ? "CUDA_ERROR_NOT_FOUND"
            : code == 700        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : code == 801        ? "CUDA_ERROR_NOT_SUPPORTED"
            : code == 900        ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
            : code == 901        ? "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
            : code == 904        ? "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
            : code == 905        ? "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"
            : code == 906        ? "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"
            : code == 907        ? "CUDA_ERROR_CAPTURED_EVENT"
                                 : "CUDA_ERROR_UNKNOWN";
    return OK;
}
ENTRY cuGetErrorString(int code, const char **text)
{
    *text = code == 700 ? "an illegal memory access was encountered"
                        : "an error of the stand-in driver";
    return OK;
}
