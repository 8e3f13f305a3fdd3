/* alloc_events.h - which blocks of tensor memory are taken and given back, in order, while somebody
 * asks. Off, an allocation reads one flag. */
#ifndef TD_ALLOC_EVENTS_H
#define TD_ALLOC_EVENTS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct td_alloc_event {
    int64_t when;  /* nanoseconds of CLOCK_MONOTONIC */
    int64_t block; /* its address */
    int64_t bytes; /* taken; negative: given back */
} td_alloc_event;

extern bool td_alloc_noting; /* read by every allocation, written by td_alloc_note_on alone */

void td_alloc_note_on(bool on); /* what nobody fetched is forgotten */
void td_alloc_note(const void *block, int64_t bytes);
/* Move up to `room` of the oldest events to `out` and return how many; *lost: how many found no
 * room since the last fetch. */
int64_t td_alloc_fetch(td_alloc_event *out, int64_t room, int64_t *lost);
#endif
