#ifndef POSTERCACHE_COUNTING_H
#define POSTERCACHE_COUNTING_H

#include <stdint.h>

// What a process has done so far, or one of its threads.
typedef struct {
  // Calls of malloc, calloc, realloc and their kind.
  uint64_t allocations;
  // Those of `postercache_large_bytes` and more: as long as a small poster.
  uint64_t large_allocations;
  uint64_t allocated_bytes;
  // By memcpy and memmove, in pieces of `postercache_copy_bytes` and more: shorter ones are keys and
  // headers, and many of those are made without a call.
  uint64_t copied_bytes;
  // Calls of connect to an address of the internet.
  uint64_t connections;
} postercache_counts;

enum { postercache_large_bytes = 8192, postercache_copy_bytes = 1024 };

// Reads the counts of all threads, and of the calling one. Allocates nothing. Programs find it by its name
// (dlsym): they are never linked with this library, but have it loaded before all others (LD_PRELOAD).
void postercache_read_counts(postercache_counts *all, postercache_counts *own);

#endif
