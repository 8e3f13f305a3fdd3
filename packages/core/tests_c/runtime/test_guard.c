/* test_guard.c - blocks between pages that nobody may touch. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "harness.h"
#include "runtime/guard.h"

TEST(address_space_that_is_out_is_told)
{
    fail_call(CALL_MMAP, 1);
    EQUAL(td_alloc_guard(TD_GUARD_BEHIND), -1);
    CHECK(td_guard_mode == TD_GUARD_OFF && td_guard_size == 0);
}

#ifndef __SANITIZE_THREAD__ /* it leaves no room for so many addresses */
TEST(a_damaged_canary_is_counted_when_the_block_goes)
{
    int64_t before = td_alloc_guard(TD_GUARD_BEHIND);
    CHECK(before >= 0);
    char *b = td_alloc(13);
    CHECK(b && td_is_guarded(b));
    memset(b, 1, 13);
    td_free(b, 13);
    EQUAL(td_alloc_guard(TD_GUARD_BEHIND), before);
    b = td_alloc(13);
    b[13] = 0;
    td_free(b, 13);
    EQUAL(td_alloc_guard(TD_GUARD_OFF), before + 1);
}

#ifndef __SANITIZE_ADDRESS__ /* it has a handler of its own */
static sigjmp_buf back;
static void on_fault(int signal) { siglongjmp(back, 1); }

static bool faults(volatile char *at)
{
    struct sigaction was, mine = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &mine, &was);
    bool fault = sigsetjmp(back, 1) != 0;
    if (!fault) *at = 1;
    sigaction(SIGSEGV, &was, NULL);
    return fault;
}

TEST(the_byte_behind_and_the_byte_before_cannot_be_written)
{
    td_alloc_guard(TD_GUARD_BEHIND);
    char *b = td_alloc(64);
    CHECK(!faults(b + 63) && faults(b + 64));
    td_free(b, 64);
    CHECK(faults(b));
    td_alloc_guard(TD_GUARD_BEFORE);
    b = td_alloc(64);
    CHECK(!faults(b) && faults(b - 1));
    td_free(b, 64);
    td_alloc_guard(TD_GUARD_OFF);
}
#endif

TEST(what_does_not_fit_is_not_given)
{
    td_alloc_guard(TD_GUARD_BEHIND);
    CHECK(!td_alloc((int64_t)1 << 41));
    CHECK(!td_alloc(((int64_t)1 << 40) - 4096)); /* the range has begun already */
    void *empty = td_alloc(0);
    CHECK(empty);
    td_free(empty, 0);
    fail_call(CALL_MPROTECT, 1);
    CHECK(!td_alloc(64));
    td_alloc_guard(TD_GUARD_OFF);
}
#endif
