/* harness.c - runs the tests of one file, or of all: `program`, `program runtime/test_alloc.c`;
 * `program --list`, `program --digests`. */
#include "harness.h"
#include <stdarg.h>
#include <stdlib.h>

static int failures;
static const harness_test *now;

void harness_fail(const char *file, int line, const char *format, ...)
{
    static const harness_test *told_of;
    static int told;
    va_list args;
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    if (told_of != now) told_of = now, told = 0;
    if (++told > 8) return; /* the rest of this test says the same */
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, now->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static __thread uint64_t state = 0x9E3779B97F4A7C15u;

void harness_seed(uint64_t seed) { state = seed * 0x9E3779B97F4A7C15u; }

uint64_t harness_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#pragma weak harness_digests /* of cpu/test_loops.c */

int main(int argc, char **argv)
{
    int run = 0;
    if (argc > 1 && !strcmp(argv[1], "--digests") && harness_digests) {
        harness_digests();
        return 0;
    }
    for (now = harness_tests; now->file; now++) {
        if (!now->run) continue; /* not in a build with this sanitizer */
        if (argc > 1 && !strcmp(argv[1], "--list")) printf("%s %s\n", now->file, now->name);
        else if (argc < 2 || !strcmp(argv[1], now->file)) {
            now->run();
            for (int kind = 0; kind < CALL_KINDS; kind++) fail_call((call_kind)kind, 0);
            run++;
        }
    }
    if (argc > 1 && !strcmp(argv[1], "--list")) return 0;
    printf("%d tests, %d failed checks\n", run, failures);
    return failures || !run;
}
