/* harness.h - tests in C, without Python.
 *
 *   TEST(what_holds) { CHECK(condition); EQUAL(got, wanted); REFUSED(call, TD_INDEX_ERROR, "part of
 * the message"); }
 *
 * tools/hunt/c_tests.py finds every TEST in every test_*.c and writes the table that harness.c
 * walks. A failed check is told and the test goes on, so that one run tells all. system.c lets a
 * call of the system fail: fail_call(CALL_MMAP, 1). */
#ifndef TD_HARNESS_H
#define TD_HARNESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "runtime/error.h"

/* TEST_FILE, a number, keeps the tests of two files apart */
#define TEST_SYMBOL_(name, file) name##_##file
#define TEST_SYMBOL(name, file) TEST_SYMBOL_(name, file)
#define TEST(name)                           \
    void TEST_SYMBOL(name, TEST_FILE)(void); \
    void TEST_SYMBOL(name, TEST_FILE)(void)

typedef struct harness_test {
    const char *file, *name;
    void (*run)(void);
} harness_test;
extern const harness_test harness_tests[]; /* generated; ends with a row of NULLs */

void harness_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define FAIL(...) harness_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition)) FAIL("not so: %s", #condition); \
    } while (0)
#define EQUAL(got, wanted)                                                      \
    do {                                                                        \
        long long got_ = (long long)(got), wanted_ = (long long)(wanted);       \
        if (got_ != wanted_) FAIL("%s is %lld, not %lld", #got, got_, wanted_); \
    } while (0)
/* the call fails, in this way and with words that hold `part` */
#define REFUSED(call, status, part)                                                               \
    do {                                                                                          \
        td_status status_ = (call);                                                               \
        if (status_ != (status)) FAIL("%s gave status %d, not %s", #call, (int)status_, #status); \
        else if (!strstr(td_error_message(), part))                                               \
            FAIL("%s said: %s", #call, td_error_message());                                       \
    } while (0)
/* the call succeeds; without it the test cannot go on */
#define NEED(call)                                            \
    do {                                                      \
        if ((call) != TD_OK) {                                \
            FAIL("%s failed: %s", #call, td_error_message()); \
            return;                                           \
        }                                                     \
    } while (0)

/* ---- numbers that look like chance and are the same in every run ---- */
uint64_t harness_random(void);
void harness_seed(uint64_t seed); /* not 0 */
/* what `program --digests` prints: "op dtype sum" for every loop (cpu/test_loops.c) */
void harness_digests(void);
static inline int64_t below(int64_t n) { return (int64_t)(harness_random() % (uint64_t)n); }

/* ---- calls of the system that fail (system.c) ---- */
typedef enum call_kind {
    CALL_MALLOC,
    CALL_CALLOC,
    CALL_ALIGNED_ALLOC,
    CALL_MMAP,
    CALL_MPROTECT,
    CALL_SYSCONF,
    CALL_STRDUP,
    CALL_FSTAT,
    CALL_PWRITE,
    CALL_KINDS
} call_kind;
/* the n-th such call of this thread from now fails, and every one after it if `n` is negative (from
 * the -n-th on); 0: none */
void fail_call(call_kind kind, int n);
extern int harness_short_write; /* what the next pwrite does; 0: its work */

#endif
