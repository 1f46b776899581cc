#pragma once
// libjpeg and libpng as functions that return errors. Both report errors by longjmp, which must not cross
// a Swift frame: here it never leaves the function that was called.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What became of a call.
typedef enum postercache_codec_status {
  POSTERCACHE_CODEC_OK = 0,
  // The bytes are not what the format demands, or end too early.
  POSTERCACHE_CODEC_DAMAGED = 1,
  // A limit is exceeded.
  POSTERCACHE_CODEC_TOO_LARGE = 2,
  // The library does not decode this coding.
  POSTERCACHE_CODEC_UNSUPPORTED = 3,
} postercache_codec_status;

// A failure in words: one line, empty while there is none.
typedef struct postercache_codec_message {
  char text[200];
} postercache_codec_message;

// MARK: JPEG

typedef struct postercache_jpeg postercache_jpeg;

typedef struct postercache_jpeg_header {
  uint32_t width;
  uint32_t height;
  // Whether all coefficients are kept in memory before the first row comes: progressive pictures, and
  // those with a scan for each component.
  bool is_buffered;
  // What these take, in bytes; 0 if they are not kept.
  uint64_t coefficient_bytes;
} postercache_jpeg_header;

// Reads the header of the JPEG in `bytes`, which must stay there until the reader is closed. Allocates
// nothing that depends on the picture's size. Returns NULL on failure.
postercache_jpeg *postercache_jpeg_open(
    const uint8_t *bytes, size_t count, postercache_jpeg_header *header,
    postercache_codec_status *status, postercache_codec_message *message);

// Begins to decode at `eighths` eighths of the size, 1 to 8; stores the resulting size. More than
// `maximum_scans` scans are an error, and so is a coefficient buffer beyond `maximum_memory` bytes.
// Unless damage is `tolerated`, the first sign of it is an error, here and in the calls that follow.
postercache_codec_status postercache_jpeg_start(
    postercache_jpeg *reader, int32_t eighths, int32_t maximum_scans, uint64_t maximum_memory,
    bool tolerated, uint32_t *width, uint32_t *height, postercache_codec_message *message);

// Decodes the next `count` rows, not more than there are, into `rows`: RGBA8, opaque, without gaps.
postercache_codec_status postercache_jpeg_read(
    postercache_jpeg *reader, uint8_t *rows, uint32_t count, postercache_codec_message *message);

// After the last row: reads up to the end of the picture. `is_complete` says whether no damage was
// tolerated.
postercache_codec_status postercache_jpeg_finish(
    postercache_jpeg *reader, bool *is_complete, postercache_codec_message *message);

void postercache_jpeg_close(postercache_jpeg *reader);

// MARK: PNG

typedef struct postercache_png postercache_png;

typedef struct postercache_png_header {
  uint32_t width;
  uint32_t height;
  // Whether pixels may be translucent.
  bool has_alpha;
  // Whether rows come several times, more complete each time.
  bool is_interlaced;
} postercache_png_header;

// Reads the header of the PNG in `bytes`, which must stay there until the reader is closed. libpng gets
// at most `maximum_memory` bytes in all, and `maximum_chunk` of them for one chunk. Returns NULL on
// failure.
postercache_png *postercache_png_open(
    const uint8_t *bytes, size_t count, uint64_t maximum_memory, uint32_t maximum_chunk,
    postercache_png_header *header, postercache_codec_status *status,
    postercache_codec_message *message);

// The embedded colour profile, which belongs to the reader; NULL if there is none.
const uint8_t *postercache_png_profile(postercache_png *reader, uint32_t *count);

// Begins to decode.
postercache_codec_status postercache_png_start(
    postercache_png *reader, postercache_codec_message *message);

// Decodes the next `count` rows into `rows`: straight RGBA8, without gaps. Of an interlaced picture all
// rows must be asked for at once; they should be 0 before. On failure `rows_read` says how many rows came
// before it (of an interlaced picture: all, however coarse, or none).
postercache_codec_status postercache_png_read(
    postercache_png *reader, uint8_t *rows, uint32_t count, uint32_t *rows_read,
    postercache_codec_message *message);

// After the last row: reads up to the end of the picture. A picture that ends after its last row is fine.
postercache_codec_status postercache_png_finish(
    postercache_png *reader, postercache_codec_message *message);

void postercache_png_close(postercache_png *reader);

// MARK: Writing PNG

typedef struct postercache_png_writer postercache_png_writer;

// Begins a PNG of 8 bits with `channels` channels: 3 for RGB, 4 for straight RGBA. Returns NULL on failure.
postercache_png_writer *postercache_png_writer_open(
    uint32_t width, uint32_t height, int32_t channels, postercache_codec_message *message);

// Appends a row of width * channels bytes.
postercache_codec_status postercache_png_writer_append(
    postercache_png_writer *writer, const uint8_t *row, postercache_codec_message *message);

// After the last row: the finished file, which belongs to the writer.
postercache_codec_status postercache_png_writer_finish(
    postercache_png_writer *writer, const uint8_t **bytes, size_t *count,
    postercache_codec_message *message);

void postercache_png_writer_close(postercache_png_writer *writer);
