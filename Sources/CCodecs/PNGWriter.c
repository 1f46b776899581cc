#include "CCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct postercache_png_writer {
  png_structp png;
  png_infop info;
  // Where an error leads to: into the function that is running.
  jmp_buf way_out;
  postercache_codec_message message;
  uint8_t *bytes;
  size_t count;
  size_t capacity;
};

static void on_error(png_structp png, png_const_charp text) {
  postercache_png_writer *writer = png_get_error_ptr(png);
  snprintf(writer->message.text, sizeof writer->message.text, "%s", text);
  longjmp(writer->way_out, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void append(png_structp png, png_bytep bytes, size_t count) {
  postercache_png_writer *writer = png_get_io_ptr(png);
  if (count > writer->capacity - writer->count) {
    size_t capacity = writer->capacity * 2 + count;
    uint8_t *larger = realloc(writer->bytes, capacity);
    if (larger == NULL) png_error(png, "there is no memory left");
    writer->bytes = larger;
    writer->capacity = capacity;
  }
  memcpy(writer->bytes + writer->count, bytes, count);
  writer->count += count;
}

static void flush(png_structp png) {
  (void)png;
}

postercache_png_writer *postercache_png_writer_open(
    uint32_t width, uint32_t height, int32_t channels, postercache_codec_message *message) {
  postercache_png_writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) {
    snprintf(message->text, sizeof message->text, "there is no memory left");
    return NULL;
  }
  if (setjmp(writer->way_out)) {
    *message = writer->message;
    postercache_png_writer_close(writer);
    return NULL;
  }
  writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, on_error, on_warning);
  if (writer->png != NULL) writer->info = png_create_info_struct(writer->png);
  if (writer->info == NULL) {
    snprintf(writer->message.text, sizeof writer->message.text, "there is no memory left");
    longjmp(writer->way_out, 1);
  }
  png_set_write_fn(writer->png, writer, append, flush);
  // The library's own limits are of a million pixels each way.
  png_set_user_limits(writer->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(
      writer->png, writer->info, width, height, 8,
      channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  png_write_info(writer->png, writer->info);
  return writer;
}

postercache_codec_status postercache_png_writer_append(
    postercache_png_writer *writer, const uint8_t *row, postercache_codec_message *message) {
  if (setjmp(writer->way_out)) {
    *message = writer->message;
    return POSTERCACHE_CODEC_TOO_LARGE;
  }
  png_write_row(writer->png, row);
  return POSTERCACHE_CODEC_OK;
}

postercache_codec_status postercache_png_writer_finish(
    postercache_png_writer *writer, const uint8_t **bytes, size_t *count,
    postercache_codec_message *message) {
  if (setjmp(writer->way_out)) {
    *message = writer->message;
    return POSTERCACHE_CODEC_TOO_LARGE;
  }
  png_write_end(writer->png, NULL);
  *bytes = writer->bytes;
  *count = writer->count;
  return POSTERCACHE_CODEC_OK;
}

void postercache_png_writer_close(postercache_png_writer *writer) {
  if (writer == NULL) return;
  if (writer->png != NULL) png_destroy_write_struct(&writer->png, &writer->info);
  free(writer->bytes);
  free(writer);
}
