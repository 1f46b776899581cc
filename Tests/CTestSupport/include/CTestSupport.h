#pragma once
#include "HeldLookups.h"

// What tests need of C: Swift does not let programs fork.

// Runs `body` in a forked child, which then ends without running anything else. Returns body's result
// (0 to 255), 256 and the number of the signal that ended the child, or -1.
int postercache_run_in_child(int (*body)(void *), void *context);
