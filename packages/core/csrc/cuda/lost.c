/* lost.c - which work a device was lost by.
 *
 * A kernel that faults is told of by a later call, and by every call after that one. So the names
 * of what was queued last are kept, and the first error that cannot be recovered from writes down
 * what it found; later errors repeat it. */
#include "cuda/lost.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "cuda/device.h"
#include "cuda/fault.h"
#include "runtime/streams.h"

#define NAMES 6 /* of launches that are told */

static const char *names[NAMES];
static unsigned launches;
static char found[480];
static bool is_lost, blocking;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool td_cuda_blocking(void) { return blocking; }
void td_cuda_set_blocking(bool yes) { blocking = yes; }

void td_cuda_launched(const char *name)
{
    unsigned k = __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED) % NAMES;
    __atomic_store_n(&names[k], name, __ATOMIC_RELAXED);
}

/* By the driver's numbers: an uncorrectable memory error, a lost link, a lost context, the faults
 * of kernels (700 to 720), and a card that fell off the bus, which has no number of its own. */
bool td_cuda_is_fatal(int code)
{
    static const int fatal[] = {214, 220, 226, 700, 702, 709, 710, 714,
                                715, 716, 717, 718, 719, 720, 999};
    for (unsigned k = 0; k < sizeof fatal / sizeof *fatal; k++)
        if (code == fatal[k]) return true;
    return false;
}

/* Newest first, each name once. */
static int write_names(char *to, size_t room)
{
    int length = 0;
    const char *seen[NAMES];
    unsigned n = __atomic_load_n(&launches, __ATOMIC_RELAXED), nseen = 0;
    for (unsigned k = 1; k <= NAMES && k <= n; k++) {
        const char *name = __atomic_load_n(&names[(n - k) % NAMES], __ATOMIC_RELAXED);
        unsigned at = 0;
        while (at < nseen && strcmp(seen[at], name)) at++;
        if (at < nseen) continue;
        seen[nseen++] = name;
        length += snprintf(to + length, room - (size_t)length, "%s%.40s", length ? ", " : "", name);
    }
    return length;
}

static void write_down(const char *doing, const char *place)
{
    char before[NAMES * 44] = "";
    int known = td_cuda_blocking() ? 0 : write_names(before, sizeof before);
    snprintf(found, sizeof found, "%.60s%s%.60s%s%.80s%s%s", doing, td_running ? " in " : "",
             td_running ? td_running : "", place[0] ? ", called at " : "", place,
             known ? "; queued before it, the last first: " : "", before);
}

const char *td_cuda_lost(int code, const char *doing)
{
    char place[TD_CUDA_PLACE_TEXT] = "";
    bool known = __atomic_load_n(&is_lost, __ATOMIC_ACQUIRE);
    if (!known && !td_cuda_is_fatal(code)) return "";
    if (known) return found;
    if (td_cuda_fault_place) td_cuda_fault_place(place); /* Python's lock comes before this one */
    pthread_mutex_lock(&lock);
    if (!is_lost) write_down(doing, place);
    __atomic_store_n(&is_lost, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return found;
}
