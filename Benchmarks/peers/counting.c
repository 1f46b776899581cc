// Counts what a program allocates and copies, for the fetch suite: loaded before the program's other
// libraries (LD_PRELOAD), it stands in front of malloc, memcpy and their kind. When the program
// exits, it writes the counts to the file that POSTERCACHE_COUNTS names, each line a name and a
// number. "large" is what is at least as long as a small poster.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { large = 8192 };

static atomic_ulong allocations, large_allocations, allocated, copied;

// The C library's own names for its functions: looking them up would allocate.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count_allocation(size_t size) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&allocated, size, memory_order_relaxed);
  if (size >= large) atomic_fetch_add_explicit(&large_allocations, 1, memory_order_relaxed);
}

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

int posix_memalign(void **block, size_t alignment, size_t size) {
  count_allocation(size);
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}

typedef void *copying(void *, const void *, size_t);

// Short copies are not counted: they are keys and headers, and many are made without a call.
static void *copy(copying *_Atomic *next, const char *name, void *to, const void *from, size_t size) {
  if (size >= 1024) atomic_fetch_add_explicit(&copied, size, memory_order_relaxed);
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

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("POSTERCACHE_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "allocations %lu\nlarge-allocations %lu\nallocated-bytes %lu\ncopied-bytes %lu\n",
          allocations, large_allocations, allocated, copied);
  fclose(file);
}
