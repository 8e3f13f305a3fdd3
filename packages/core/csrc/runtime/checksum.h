/* checksum.h - CRC-32 of zip, gzip and PNG (polynomial 0x04c11db7), and CRC-32C of iSCSI and ext4
 * (0x1edc6f41); bits reflected. */
#ifndef TD_CHECKSUM_H
#define TD_CHECKSUM_H
#include <stddef.h>
#include <stdint.h>

/* The checksum of what had `before` and goes on with these bytes; 0 is that of nothing. */
uint32_t td_crc32(uint32_t before, const void *data, size_t n);
uint32_t td_crc32c(uint32_t before, const void *data, size_t n);
#endif
