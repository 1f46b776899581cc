// Counts what a program allocates, copies and connects to: loaded before the program's other libraries
// (LD_PRELOAD), it stands in front of malloc, memcpy and their kind. The program may read the counts at
// any time (`postercache_read_counts`); when it exits, they are written to the file that
// POSTERCACHE_COUNTS names, each line a name and a number.
#define _GNU_SOURCE
#include "Counting.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static atomic_ulong allocations, large_allocations, allocated, copied, connections;

// Of this kind, reading them never allocates: the library is there when the program starts.
static __thread postercache_counts own_counts __attribute__((tls_model("initial-exec")));

// The C library's own names for its functions: looking them up would allocate.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count_allocation(size_t size) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&allocated, size, memory_order_relaxed);
  if (size >= postercache_large_bytes)
    atomic_fetch_add_explicit(&large_allocations, 1, memory_order_relaxed);
  own_counts.allocations++;
  own_counts.allocated_bytes += size;
  own_counts.large_allocations += size >= postercache_large_bytes;
}

// Compilers know what these functions do, and would turn their bodies into calls of themselves.
#pragma clang attribute push(__attribute__((no_builtin)), apply_to = function)

void *malloc(size_t size) {
  count_allocation(size);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_allocation(count * size);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  count_allocation(size);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count_allocation(size);
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  return aligned_alloc(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  count_allocation(size);
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}

typedef void *copying(void *, const void *, size_t);

static void *copy(copying *_Atomic *next, const char *name, void *to, const void *from, size_t size) {
  if (size >= postercache_copy_bytes) {
    atomic_fetch_add_explicit(&copied, size, memory_order_relaxed);
    own_counts.copied_bytes += size;
  }
  if (!*next) *next = (copying *)dlsym(RTLD_NEXT, name);
  return (*next)(to, from, size);
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  static copying *_Atomic next;
  return copy(&next, "memcpy", to, from, size);
}

void *memmove(void *to, const void *from, size_t size) {
  static copying *_Atomic next;
  return copy(&next, "memmove", to, from, size);
}

void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) {
  if (size > room) abort();
  return memcpy(to, from, size);
}

void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
  if (size > room) abort();
  return memmove(to, from, size);
}

#pragma clang attribute pop

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  static int (*_Atomic next)(int, const struct sockaddr *, socklen_t);
  if (address && (address->sa_family == AF_INET || address->sa_family == AF_INET6)) {
    atomic_fetch_add_explicit(&connections, 1, memory_order_relaxed);
    own_counts.connections++;
  }
  if (!next) next = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  return next(socket, address, length);
}

void postercache_read_counts(postercache_counts *all, postercache_counts *own) {
  *all = (postercache_counts){allocations, large_allocations, allocated, copied, connections};
  *own = own_counts;
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("POSTERCACHE_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file,
          "allocations %lu\nlarge-allocations %lu\nallocated-bytes %lu\ncopied-bytes %lu\n"
          "connections %lu\n",
          allocations, large_allocations, allocated, copied, connections);
  fclose(file);
}
