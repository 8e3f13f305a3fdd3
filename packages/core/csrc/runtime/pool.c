/* pool.c - the thread pool.
 *
 * One job at a time. The caller opens it, works on it like everybody, closes it and waits for those
 * inside; it never waits for a worker that has not started, so a busy machine costs no more than
 * the caller's own time. Workers look for a new job for about 20 microseconds, then sleep on a
 * futex whose word counts the jobs. While jobs follow each other closely, as in a training step,
 * they look for longer: to wake one costs the caller 5 to 40 microseconds. Not on a busy machine,
 * though, which a worker knows by having lost its core while it looked: there that time is somebody
 * else's.
 *
 * Everybody begins with a share of their own, the same part of every job, and then takes chunks of
 * what others have left: in a run of jobs over the same tensors a thread finds in its own cache
 * what it wrote there the time before.
 *
 * `open` and `inside` are sequentially consistent: a worker enters, then looks whether the job is
 * open; the caller closes, then looks whether anybody is inside. One of the two sees the other, so
 * no worker touches a job after its end. */
#define _GNU_SOURCE
#include "runtime/pool.h"
#include "runtime/float_mode.h"
#include "runtime/thread_local.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS 20000
#define LONG_SPIN_NS 200000 /* after a job that came within this time */
#define LOST_NS 20000  /* between two looks, half a microsecond apart: the core was taken away */
#define WARY_JOBS 2000 /* after that */
#define CHUNKS_PER_THREAD 4 /* so that a late worker still finds something to do */
#define MAX_WORKERS 255

typedef struct share {
    _Alignas(64) _Atomic int64_t next; /* first index not handed out */
    int64_t end;
} share;

static struct {
    _Alignas(64) _Atomic uint32_t jobs; /* the futex word */
    _Alignas(64) _Atomic int open, inside, asleep;
    _Alignas(64) share shares[MAX_WORKERS + 1];
    int threads; /* shares of this job */
    int64_t chunk;
    td_range_fn fn;
    void *context;
    uint32_t float_mode; /* of the caller */
    _Atomic int helpers; /* workers with a smaller number take part */
    int started;
    pthread_mutex_t lock;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic int wanted_threads; /* 0: not asked yet */
static TD_THREAD_LOCAL int in_body;

void *(*td_unlock_hook)(void);
void (*td_relock_hook)(void *token);

/* ---- waiting ---- */
static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until_job(uint32_t seen)
{
    atomic_fetch_add(&pool.asleep, 1);
    syscall(SYS_futex, &pool.jobs, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&pool.asleep, 1);
}

typedef struct patience {
    int64_t spin; /* for how long to look before sleeping */
    int wary;     /* jobs until this may be long again */
} patience;

static uint32_t wait_for_job(uint32_t seen, patience *p)
{
    uint32_t jobs;
    int64_t from = now_ns(), now = from;
    while ((jobs = atomic_load(&pool.jobs)) == seen) {
        bool look = now - from < p->spin;
        int64_t before = now;
        if (look)
            for (int i = 0; i < 8; i++) relax();
        else sleep_until_job(seen);
        now = now_ns();
        if (look && now - before > LOST_NS) p->wary = WARY_JOBS;
    }
    if (p->wary) p->wary--;
    p->spin = !p->wary && now - from < LONG_SPIN_NS ? LONG_SPIN_NS : SPIN_NS;
    return jobs;
}

/* The last workers may have lost their core in the middle of a chunk. */
static void wait_for_workers(void)
{
    for (int i = 1; atomic_load(&pool.inside); i++)
        if (i % 256) relax();
        else sched_yield();
}

/* ---- working ---- */
static void take_chunks(share *s)
{
    int64_t begin;
    while ((begin = atomic_fetch_add_explicit(&s->next, pool.chunk, memory_order_relaxed)) <
           s->end) {
        int64_t left = s->end - begin;
        pool.fn(pool.context, begin, begin + (left < pool.chunk ? left : pool.chunk));
    }
}

static void work(int my_share)
{
    for (int i = my_share; i < pool.threads; i++) take_chunks(&pool.shares[i]);
    for (int i = 0; i < my_share; i++) take_chunks(&pool.shares[i]);
}

static void *worker(void *number)
{
    int my_number = (int)(intptr_t)number;
    uint32_t seen = 0;
    patience mine = {SPIN_NS, 0};
    in_body = 1;
    for (;;) {
        seen = wait_for_job(seen, &mine);
        if (my_number >= atomic_load(&pool.helpers)) continue;
        atomic_fetch_add(&pool.inside, 1);
        if (atomic_load(&pool.open)) {
            td_take_float_mode(pool.float_mode);
            work(my_number + 1);
        }
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

/* ---- starting ---- */
static void child_starts_fresh(void)
{
    pool.started = 0;
    pool.open = pool.inside = pool.asleep = 0;
    pthread_mutex_init(&pool.lock, NULL);
}

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, child_starts_fresh); }

/* Signals belong to the program's own threads, but for those that an instruction of the worker
 * itself raises: blocked, they would end the process past any handler. A refusal by the system
 * leaves fewer helpers, which is no error. */
static const int own_faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static void start_workers(int count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handler);
    sigset_t all, old;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&all, own_faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (pthread_t t; pool.started < count; pool.started++) {
        if (pthread_create(&t, NULL, worker, (void *)(intptr_t)pool.started)) break;
        pthread_detach(t);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Shares are whole chunks but for the last one; some may be empty. */
static void share_out(int64_t n, int64_t chunk, int threads)
{
    int64_t chunks = (n - 1) / chunk + 1, most = (chunks - 1) / threads + 1, begin = 0;
    for (int i = 0; i < threads; i++) {
        int64_t end = n - begin > most * chunk ? begin + most * chunk : n;
        atomic_store_explicit(&pool.shares[i].next, begin, memory_order_relaxed);
        pool.shares[i].end = end;
        begin = end;
    }
    pool.threads = threads;
    pool.chunk = chunk;
}

static void run_job(td_range_fn fn, void *context)
{
    pool.fn = fn;
    pool.context = context;
    pool.float_mode = td_float_mode();
    atomic_store(&pool.open, 1);
    atomic_fetch_add(&pool.jobs, 1);
    if (atomic_load(&pool.asleep))
        syscall(SYS_futex, &pool.jobs, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    in_body = 1;
    work(0);
    in_body = 0;
    atomic_store(&pool.open, 0);
    wait_for_workers();
}

void td_parallel(int64_t n, int64_t grain, td_range_fn fn, void *context)
{
    if (n <= 0) return;
    int threads = td_num_threads();
    if (grain < 1) grain = 1;
    if (threads == 1 || n <= grain || in_body || pthread_mutex_trylock(&pool.lock)) {
        fn(context, 0, n);
        return;
    }
    int helpers = threads - 1 < MAX_WORKERS ? threads - 1 : MAX_WORKERS;
    atomic_store(&pool.helpers, helpers);
    if (pool.started < helpers) start_workers(helpers);
    int64_t chunk = (n - 1) / ((int64_t)(helpers + 1) * CHUNKS_PER_THREAD) + 1;
    share_out(n, chunk < grain ? grain : chunk, helpers + 1);
    run_job(fn, context);
    pthread_mutex_unlock(&pool.lock);
}

/* ---- how many ---- */
static int allowed_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than the set has room for */
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

static int default_threads(void)
{
    static const char *const names[] = {"TAEDA_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"};
    for (int k = 0; k < 3; k++) {
        const char *text = getenv(names[k]);
        long n = text ? strtol(text, NULL, 10) : 0; /* of a list such as "4,2" the first counts */
        if (n >= 1 && n <= INT_MAX) return (int)n;
    }
    return allowed_cores();
}

int td_num_threads(void)
{
    int n = atomic_load_explicit(&wanted_threads, memory_order_relaxed);
    if (n) return n;
    n = default_threads();
    atomic_store(&wanted_threads, n);
    return n;
}

void td_set_num_threads(int n) { atomic_store(&wanted_threads, n < 1 ? 1 : n); }
int td_in_parallel(void) { return in_body; }
