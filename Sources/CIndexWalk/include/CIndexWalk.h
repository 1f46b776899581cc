#pragma once
// Looks at every page of an LMDB environment in a process of its own. LMDB trusts its pages: a damaged
// one can crash whoever reads it, which must not be the process that asks. In C, because after fork in
// a program with threads nothing but async-signal-safe calls and malloc may be relied on.

// Walks every row of every table of the environment in the directory that is open as `directory`, in a
// forked child that ends with its parent.
//
// Returns 0 if all could be read. Otherwise 1, and one line of text about what was found in `finding`,
// which holds `size` bytes; 2 and the reason if the child lacked something, such as descriptors; 3 if it had no room for
// what the index says that it needs. Returns -1
// with errno if no child could be made.
int postercache_walk_index(
    int directory, unsigned table_count, unsigned reader_count, char *finding, int size);
