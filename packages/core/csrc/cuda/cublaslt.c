/* cublaslt.c - the library and its handles. */
#include "cuda/cublaslt.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/device.h"
#include "cuda/pool.h"

td_lt_library td_lt;
td_status (*td_lt_open)(int major, void **library);
int td_lt_allowed;

enum { UNKNOWN, OPEN, UNUSABLE };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int library_state, handle_states[TD_DEVICE_ORDINALS];
static void *handles[TD_DEVICE_ORDINALS];

bool td_lt_logs(void)
{
    const char *asked = getenv("TAEDA_CUDA_LOG");
    return asked && strstr(asked, "products");
}

const char *td_lt_word(int status)
{
    const char *word = td_lt.cublasLtGetStatusName(status);
    return word ? word : "unknown status";
}

/* The name of an entry point that is missing, or NULL. */
static const char *fill(void *library)
{
#define FIND(name, arguments) \
    if (!(*(void **)&td_lt.name = dlsym(library, #name))) return #name;
    TD_LT_ENTRIES(FIND)
    FIND(cublasLtGetVersion, )
    FIND(cublasLtGetStatusName, )
#undef FIND
    return NULL;
}

static td_status unusable(const char *why, const char *what)
{
    char text[320];
    snprintf(text, sizeof text,
             "products of matrices are computed by taeda's own kernels, which are slow: %s%s", why,
             what);
    return td_cuda_warn(text);
}

static td_status open_library(void)
{
    void *library = NULL;
    int version = 0;
    td_cu.cuDriverGetVersion(&version);
    td_status status = td_lt_open(version / 1000, &library); /* it tells what it did not find */
    const char *missing = library ? fill(library) : NULL;
    __atomic_store_n(&library_state, library && !missing ? OPEN : UNUSABLE, __ATOMIC_RELEASE);
    if (status != TD_OK || !library) return status;
    if (missing) return unusable("the cuBLASLt that was found has no entry point ", missing);
    size_t is = td_lt.cublasLtGetVersion();
    if (td_lt_logs())
        fprintf(stderr, "taeda.cuda: products by cuBLASLt %zu.%zu.%zu\n", is / 10000,
                is / 100 % 100, is % 100);
    return TD_OK;
}

/* A library that does not start, as on a machine whose driver is too old for it, is not asked
 * again. */
static int first_handle(int ordinal, bool last_try)
{
    void *result = NULL;
    pthread_mutex_lock(&lock);
    bool first = handle_states[ordinal] == UNKNOWN;
    int code = first ? td_lt.cublasLtCreate(&result) : 0;
    if (first && (code != TD_LT_NO_MEMORY || last_try)) {
        handles[ordinal] = code ? NULL : result;
        __atomic_store_n(&handle_states[ordinal], code ? UNUSABLE : OPEN, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* Memory is given back without the lock: that may ask Python. */
static td_status make_handle(int ordinal)
{
    int code = first_handle(ordinal, false);
    if (code == TD_LT_NO_MEMORY) {
        td_cuda_relieve(ordinal);
        code = first_handle(ordinal, true);
    }
    return code ? unusable("cuBLASLt does not start: ", td_lt_word(code)) : TD_OK;
}

td_status td_lt_handle(int ordinal, void **handle)
{
    *handle = NULL;
    if (__atomic_load_n(&library_state, __ATOMIC_ACQUIRE) == UNKNOWN) TD_TRY(open_library());
    if (__atomic_load_n(&library_state, __ATOMIC_ACQUIRE) != OPEN) return TD_OK;
    if (__atomic_load_n(&handle_states[ordinal], __ATOMIC_ACQUIRE) == UNKNOWN)
        TD_TRY(make_handle(ordinal));
    *handle = handles[ordinal];
    return TD_OK;
}
