#pragma once
#include "HeldLookups.h"

// What tests need of C: Swift does not let programs fork.

// Runs `body` in a forked child, which then ends without running anything else. Returns body's result
// (0 to 255), 256 and the number of the signal that ended the child, or -1.
//
// A lock that another thread held at the moment of the fork stays locked in the child for ever, those of
// Swift's runtime among them. Therefore run the same code in the parent first, so that whatever the
// runtime does only once is done, and keep other threads idle. A child that hangs all the same is ended
// by SIGALRM after a minute.
int postercache_run_in_child(int (*body)(void *), void *context);

// Bytes that the process has allocated and not freed; 0 with an allocator that is not glibc's.
long postercache_allocated_bytes(void);
