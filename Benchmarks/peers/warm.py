"""Fetches a list of posters into a cache, as a program in Python would: aiohttp and diskcache.

    warm.py LIST DIRECTORY CONNECTIONS [AUTHORITIES]

LIST has an address a line. Those that the cache in DIRECTORY has are not asked for. The cache keeps the order
of use, as a limit that deserves the name needs it, and is filled in the loop's own thread, which is quicker
than handing each poster to another one. AUTHORITIES is a file of the authorities to trust for HTTPS. Ends
with 1 unless all posters are in the cache at the end.
"""

import asyncio
import ssl
import sys

try:
    import aiohttp
    import diskcache
except ImportError:
    aiohttp = diskcache = None


async def fetch(session, cache, waiting):
    while waiting:
        address = waiting.pop()
        async with session.get(address) as response:
            response.raise_for_status()
            cache.set(address, await response.read())


async def warm(cache, addresses, connections, authorities):
    waiting = [address for address in reversed(addresses) if address not in cache]
    context = ssl.create_default_context(cafile=authorities) if authorities else True
    connector = aiohttp.TCPConnector(limit=connections, ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(fetch(session, cache, waiting) for _ in range(connections)))


def main():
    if sys.argv[1:] == ["--version"]:
        if aiohttp is None:
            print("not installed")
        else:
            print("aiohttp %s, diskcache %s" % (aiohttp.__version__, diskcache.__version__))
        return
    list_file, directory, connections, *authorities = sys.argv[1:]
    with open(list_file, encoding="utf-8") as lines:
        addresses = lines.read().split()
    cache = diskcache.Cache(
        directory, eviction_policy="least-recently-used", statistics=False, size_limit=1 << 30
    )
    asyncio.run(
        warm(cache, addresses, int(connections), authorities[0] if authorities else None)
    )
    sys.exit(0 if len(cache) == len(addresses) else 1)


main()
