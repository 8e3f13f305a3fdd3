/* faults.h - of the stand-in driver (libcuda_null.c): calls that fail, and how many there were. */
#ifndef NULL_FAULTS_H
#define NULL_FAULTS_H

/* ---- faults ---- */
enum { NAMES = 64 };
static struct {
    const char *name; /* __func__ of the entry point */
    long calls;
} counted[NAMES];
static int counting;

static void count(const char *name)
{
    pthread_mutex_lock(&lock);
    int k = 0;
    while (k < NAMES - 1 && counted[k].name && counted[k].name != name) k++;
    counted[k].name = name;
    counted[k].calls++;
    pthread_mutex_unlock(&lock);
}

static void discard_all(void);
static void discard_captures(void);
/* From now on the n-th call of `name` answers with `code`; an empty name: none does. A device that
 * was lost is there again, and what it had to do is not done. */
__attribute__((visibility("default"))) void td_null_fail(const char *name, long n, long code)
{
    pthread_mutex_lock(&lock);
    if (sticky) discard_all(), discard_captures();
    snprintf(fail_name, sizeof fail_name, "%s", name);
    fail_at = n, fail_code = code, calls = 0, sticky = 0;
    pthread_mutex_unlock(&lock);
}
/* Count calls from now on. */
__attribute__((visibility("default"))) void td_null_count(void)
{
    pthread_mutex_lock(&lock);
    memset(counted, 0, sizeof counted);
    counting = 1;
    pthread_mutex_unlock(&lock);
}
/* The k-th entry point that was called since, and how often; NULL behind the last. */
__attribute__((visibility("default"))) const char *td_null_counted(int k, long *n)
{
    counting = 0;
    *n = k < NAMES ? counted[k].calls : 0;
    return k < NAMES ? counted[k].name : NULL;
}

static int checked(const char *name)
{
    if (!started) return NOT_STARTED;
    if (counting) count(name);
    if (sticky) return sticky;
    if (fail_name[0] && !strcmp(name, fail_name) &&
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == fail_at) {
        if (fail_code >= 700 || fail_code == 214) sticky = (int)fail_code;
        return (int)fail_code;
    }
    return OK;
}
#define CHECK                          \
    do {                               \
        int code_ = checked(__func__); \
        if (code_) return code_;       \
    } while (0)
#endif
