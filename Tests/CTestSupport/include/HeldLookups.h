#pragma once
// A resolver that does not answer: looking up a name that contains `.held.test` takes until it is
// released, and fails then.

// How many such lookups have begun in all.
unsigned postercache_held_lookups(void);

// Waits until `count` such lookups have begun in all.
void postercache_wait_for_held_lookups(unsigned count);

// Lets those fail that have begun.
void postercache_release_held_lookups(void);
