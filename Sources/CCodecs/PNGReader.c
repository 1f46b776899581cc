#include "CCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>
#include <png.h>

struct postercache_png {
  png_structp png;
  png_infop info;
  // Where an error leads to: into the function that is running.
  jmp_buf way_out;
  postercache_codec_status status;
  postercache_codec_message message;
  const uint8_t *bytes;
  size_t count;
  size_t offset;
  // The bytes ended too early.
  bool ran_out;
  // What libpng may still allocate.
  uint64_t budget;
  int passes;
};

static void on_error(png_structp png, png_const_charp text) {
  postercache_png *reader = png_get_error_ptr(png);
  if (reader->status == POSTERCACHE_CODEC_OK) reader->status = POSTERCACHE_CODEC_DAMAGED;
  snprintf(reader->message.text, sizeof reader->message.text, "%s", text);
  longjmp(reader->way_out, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void read_bytes(png_structp png, png_bytep destination, size_t count) {
  postercache_png *reader = png_get_io_ptr(png);
  if (count > reader->count - reader->offset) {
    reader->offset = reader->count;
    reader->ran_out = true;
    png_error(png, "it ends too early");
  }
  memcpy(destination, reader->bytes + reader->offset, count);
  reader->offset += count;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size) {
  postercache_png *reader = png_get_mem_ptr(png);
  png_voidp block = size <= reader->budget ? malloc(size) : NULL;
  if (block == NULL) {
    reader->status = POSTERCACHE_CODEC_TOO_LARGE;
    return NULL;
  }
  size_t usable = malloc_usable_size(block);
  reader->budget = usable < reader->budget ? reader->budget - usable : 0;
  return block;
}

static void release(png_structp png, png_voidp block) {
  postercache_png *reader = png_get_mem_ptr(png);
  if (block != NULL) reader->budget += malloc_usable_size(block);
  free(block);
}

// Text, histograms, suggested palettes and the like are of no use here, and may be large.
static void ignore_unused_chunks(png_structp png) {
  static const png_byte names[] =
      "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sTER\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / 5);
}

postercache_png *postercache_png_open(
    const uint8_t *bytes, size_t count, uint64_t maximum_memory, uint32_t maximum_chunk,
    postercache_png_header *header, postercache_codec_status *status,
    postercache_codec_message *message) {
  postercache_png *reader = calloc(1, sizeof *reader);
  if (reader == NULL) {
    *status = POSTERCACHE_CODEC_TOO_LARGE;
    snprintf(message->text, sizeof message->text, "there is no memory left");
    return NULL;
  }
  reader->bytes = bytes;
  reader->count = count;
  reader->budget = maximum_memory;
  if (setjmp(reader->way_out)) {
    *status = reader->status;
    *message = reader->message;
    postercache_png_close(reader);
    return NULL;
  }
  reader->png = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, reader, on_error, on_warning, reader, allocate, release);
  if (reader->png != NULL) reader->info = png_create_info_struct(reader->png);
  if (reader->info == NULL) {
    reader->status = POSTERCACHE_CODEC_TOO_LARGE;
    snprintf(reader->message.text, sizeof reader->message.text, "there is no memory left");
    longjmp(reader->way_out, 1);
  }
  png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(reader->png, maximum_chunk);
  ignore_unused_chunks(reader->png);
  png_set_read_fn(reader->png, reader, read_bytes);
  png_read_info(reader->png, reader->info);
  header->width = png_get_image_width(reader->png, reader->info);
  header->height = png_get_image_height(reader->png, reader->info);
  header->has_alpha = (png_get_color_type(reader->png, reader->info) & PNG_COLOR_MASK_ALPHA) != 0
      || png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) != 0;
  header->is_interlaced =
      png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
  return reader;
}

const uint8_t *postercache_png_profile(postercache_png *reader, uint32_t *count) {
  png_charp name;
  int compression;
  png_bytep profile = NULL;
  png_uint_32 length = 0;
  // Fetches pointers only, and therefore reports no error.
  if (png_get_iCCP(reader->png, reader->info, &name, &compression, &profile, &length) == 0) {
    return NULL;
  }
  *count = length;
  return profile;
}

postercache_codec_status postercache_png_start(
    postercache_png *reader, postercache_codec_message *message) {
  if (setjmp(reader->way_out)) {
    *message = reader->message;
    return reader->status;
  }
  png_structp png = reader->png;
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
  reader->passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader->info);
  if (png_get_rowbytes(png, reader->info)
      != (size_t)png_get_image_width(png, reader->info) * 4) {
    png_error(png, "its rows have an unexpected length");
  }
  return POSTERCACHE_CODEC_OK;
}

postercache_codec_status postercache_png_read(
    postercache_png *reader, uint8_t *rows, uint32_t count, uint32_t *rows_read,
    postercache_codec_message *message) {
  *rows_read = 0;
  if (setjmp(reader->way_out)) {
    *message = reader->message;
    return reader->status;
  }
  const size_t bytes_per_row = png_get_rowbytes(reader->png, reader->info);
  if (reader->passes == 1) {
    for (uint32_t y = 0; y < count; y++) {
      png_read_row(reader->png, rows + y * bytes_per_row, NULL);
      *rows_read = y + 1;
    }
    return POSTERCACHE_CODEC_OK;
  }
  for (int pass = 0; pass < reader->passes; pass++) {
    // As something to display: each pixel of a pass fills what later passes will bring.
    for (uint32_t y = 0; y < count; y++) {
      png_read_row(reader->png, NULL, rows + y * bytes_per_row);
    }
    *rows_read = count;
  }
  return POSTERCACHE_CODEC_OK;
}

postercache_codec_status postercache_png_finish(
    postercache_png *reader, postercache_codec_message *message) {
  if (setjmp(reader->way_out)) {
    if (reader->ran_out) return POSTERCACHE_CODEC_OK;
    *message = reader->message;
    return reader->status;
  }
  png_read_end(reader->png, NULL);
  return POSTERCACHE_CODEC_OK;
}

void postercache_png_close(postercache_png *reader) {
  if (reader == NULL) return;
  // Frees only, and therefore reports nothing.
  if (reader->png != NULL) png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}
