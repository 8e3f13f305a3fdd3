/* regions.h - address space for huge pages; see regions.c. */
#ifndef TD_REGIONS_H
#define TD_REGIONS_H
#include <stdbool.h>
#include <stdint.h>

/* `bytes` from the system that begin at a huge page; NULL: there are none. Back by munmap. */
void *td_map_huge(int64_t bytes);
/* whether blocks of this size lie in regions, if they are not so large that they are mapped alone
 */
bool td_region_holds(int64_t bytes);
/* a block of one size class, a multiple of a page; NULL: there is no memory */
void *td_region_take(int64_t bytes);
void td_region_give(void *block, int64_t bytes);
/* around a fork, so that the child finds the regions whole */
void td_region_lock(void);
void td_region_unlock(void);
#endif
