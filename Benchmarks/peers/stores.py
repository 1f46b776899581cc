"""Stores posters as programs in Python would, in diskcache.

postercache-bench runs `stores.py LIST` and tells it on its standard input what to do.
LIST has a line for each poster: its address, a tab, its file. Commands, each answered on one line by
the wall-clock and processor seconds it took, or by `error` and why:

    insert DIRECTORY    every poster into a new store in this empty directory
    hit TIMES           every poster of the last store, TIMES over in random order

Opening a store is not measured, nor is reading the posters from their files.
"""

import random
import sqlite3
import sys
import time

try:
    import diskcache
except ImportError:
    diskcache = None


class DiskCacheStore:
    """diskcache with the order of use on, as a limit that deserves the name needs it."""

    def open(self, directory):
        self.cache = diskcache.Cache(
            directory,
            eviction_policy="least-recently-used",
            statistics=False,
            size_limit=1 << 30,
        )

    def insert(self, posters):
        put = self.cache.set
        for name, body in posters:
            put(name, body)

    def read(self, names):
        get = self.cache.get
        return sum(len(get(name)) for name in names)


def measured(work):
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - processor


def read_posters(path):
    posters = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, file = line.rstrip("\n").split("\t")
            with open(file, "rb") as stream:
                posters.append((name, stream.read()))
    return posters


def carry_out(line, store, posters, generator):
    command, argument = line.rstrip("\n").split(" ", 1)
    if command == "insert":
        store.open(argument)
        _, wall, processor = measured(lambda: store.insert(posters))
    elif command == "hit":
        names = []
        for _ in range(int(argument)):
            order = [name for name, _ in posters]
            generator.shuffle(order)
            names += order
        total, wall, processor = measured(lambda: store.read(names))
        expected = int(argument) * sum(len(body) for _, body in posters)
        if total != expected:
            return "error %d bytes were read, not %d" % (total, expected)
    else:
        return "error there is no command " + command
    return "%.9f %.9f" % (wall, processor)


def main():
    if sys.argv[1:] == ["--version"]:
        version = getattr(diskcache, "__version__", "not installed")
        print(
            "diskcache %s, Python %s, SQLite %s"
            % (version, sys.version.split()[0], sqlite3.sqlite_version)
        )
        return
    store = DiskCacheStore()
    posters = read_posters(sys.argv[1])
    generator = random.Random(1)
    for line in sys.stdin:
        try:
            answer = carry_out(line, store, posters, generator)
        except Exception as error:  # whoever waits for an answer gets one
            answer = "error %s: %s" % (type(error).__name__, error)
        print(answer, flush=True)


main()
