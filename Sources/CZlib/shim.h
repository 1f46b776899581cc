#pragma once
#include <zlib.h>

// inflateInit2 is a macro. 16 more than the window's size means a gzip header and trailer.
static inline int postercache_gunzip_init(z_stream *stream) {
  return inflateInit2(stream, 16 + MAX_WBITS);
}
