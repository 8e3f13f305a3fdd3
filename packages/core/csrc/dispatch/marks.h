/* marks.h - which of many addresses are the same, without comparing each with each. */
#ifndef TD_MARKS_H
#define TD_MARKS_H
#include <stdint.h>
#include <stdlib.h>

typedef struct td_mark {
    const void *at;
    int64_t index; /* the caller's; negative ones come first among equal addresses */
} td_mark;

static inline int td_mark_order(const void *a, const void *b)
{
    const td_mark *one = a, *other = b;
    if (one->at != other->at) return (uintptr_t)one->at < (uintptr_t)other->at ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}
/* Equal addresses become neighbours. */
static inline void td_marks_sort(td_mark *marks, size_t n)
{
    qsort(marks, n, sizeof *marks, td_mark_order);
}
#endif
