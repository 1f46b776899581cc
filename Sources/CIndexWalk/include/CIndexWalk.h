#pragma once
// Looks at every page of an LMDB environment in a process of its own. LMDB trusts its pages: a damaged
// one can crash whoever reads it, which must not be the process that asks. In C, because after fork in
// a program with threads nothing but async-signal-safe calls and malloc may be relied on.

// Walks every row of every table of the environment in `directory`, in a forked child.
//
// Returns 0 if all could be read. Otherwise 1, and one line of text about what was found in `finding`,
// which holds `size` bytes. Returns -1 with errno if no child could be made.
int postercache_walk_index(
    const char *directory, unsigned table_count, unsigned reader_count, char *finding, int size);
