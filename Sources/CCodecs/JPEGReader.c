#include "CCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

struct postercache_jpeg {
  // First, so that a pointer to it is one to the reader.
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  // Where an error leads to: into the function that is running.
  jmp_buf way_out;
  postercache_codec_status status;
  postercache_codec_message message;
  uint32_t maximum_scans;
  // Damage does not stop the decoder.
  bool tolerates_damage;
  // There was some.
  bool is_damaged;
  // The bytes ended before the picture's end marker.
  bool ran_out;
  // Components that scans have brought.
  bool has_come[MAX_COMPONENTS];
};

static void fail(postercache_jpeg *reader, postercache_codec_status status) {
  reader->status = status;
  longjmp(reader->way_out, 1);
}

static void fail_with_library_text(postercache_jpeg *reader, postercache_codec_status status) {
  char text[JMSG_LENGTH_MAX];
  reader->errors.format_message((j_common_ptr)&reader->info, text);
  snprintf(reader->message.text, sizeof reader->message.text, "%s", text);
  fail(reader, status);
}

static void on_error(j_common_ptr common) {
  postercache_jpeg *reader = (postercache_jpeg *)common;
  switch (reader->errors.msg_code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
      fail_with_library_text(reader, POSTERCACHE_CODEC_UNSUPPORTED);
      break;
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
      fail_with_library_text(reader, POSTERCACHE_CODEC_TOO_LARGE);
      break;
    default:
      fail_with_library_text(reader, POSTERCACHE_CODEC_DAMAGED);
  }
}

static void note_damage(postercache_jpeg *reader) {
  reader->is_damaged = true;
  if (!reader->tolerates_damage) fail_with_library_text(reader, POSTERCACHE_CODEC_DAMAGED);
}

// Warnings have a negative level.
static void on_message(j_common_ptr common, int level) {
  postercache_jpeg *reader = (postercache_jpeg *)common;
  if (level >= 0) return;
  switch (reader->errors.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      // Unusual, and nothing is missing.
      break;
    case JWRN_JPEG_EOF:
      // The end marker is missing. Whether anything else is shows in what follows: where a Huffman
      // decoder needs more, it warns again. An arithmetic one takes zeros for granted.
      reader->ran_out = true;
      if (reader->info.arith_code) note_damage(reader);
      break;
    default:
      note_damage(reader);
  }
}

// Called for each row of blocks of each scan.
static void on_progress(j_common_ptr common) {
  postercache_jpeg *reader = (postercache_jpeg *)common;
  struct jpeg_decompress_struct *info = &reader->info;
  if (info->input_scan_number > 0 && (uint32_t)info->input_scan_number > reader->maximum_scans) {
    snprintf(
        reader->message.text, sizeof reader->message.text, "it has more than %u scans",
        reader->maximum_scans);
    fail(reader, POSTERCACHE_CODEC_TOO_LARGE);
  }
  for (int i = 0; i < info->comps_in_scan; i++) {
    reader->has_come[info->cur_comp_info[i]->component_index] = true;
  }
}

static void on_output(j_common_ptr common) {
  (void)common;
}

static uint64_t rounded_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *info) {
  uint64_t blocks = 0;
  for (int i = 0; i < info->num_components; i++) {
    const jpeg_component_info *component = &info->comp_info[i];
    blocks += rounded_up(component->width_in_blocks, (uint64_t)component->h_samp_factor)
        * rounded_up(component->height_in_blocks, (uint64_t)component->v_samp_factor);
  }
  return blocks * sizeof(JBLOCK);
}

postercache_jpeg *postercache_jpeg_open(
    const uint8_t *bytes, size_t count, postercache_jpeg_header *header,
    postercache_codec_status *status, postercache_codec_message *message) {
  postercache_jpeg *reader = calloc(1, sizeof *reader);
  if (reader == NULL) {
    *status = POSTERCACHE_CODEC_TOO_LARGE;
    snprintf(message->text, sizeof message->text, "there is no memory left");
    return NULL;
  }
  struct jpeg_decompress_struct *info = &reader->info;
  info->err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = on_error;
  reader->errors.emit_message = on_message;
  reader->errors.output_message = on_output;
  // What is wrong in a header decides nothing yet.
  reader->tolerates_damage = true;
  if (setjmp(reader->way_out)) {
    *status = reader->status;
    *message = reader->message;
    postercache_jpeg_close(reader);
    return NULL;
  }
  jpeg_create_decompress(info);
  jpeg_mem_src(info, bytes, count);
  jpeg_read_header(info, TRUE);
  if (info->num_components != 1 && info->num_components != 3 && info->num_components != 4) {
    snprintf(
        reader->message.text, sizeof reader->message.text, "it has %d colour components",
        info->num_components);
    fail(reader, POSTERCACHE_CODEC_UNSUPPORTED);
  }
  header->width = info->image_width;
  header->height = info->image_height;
  header->is_buffered = jpeg_has_multiple_scans(info);
  header->coefficient_bytes = header->is_buffered ? coefficient_bytes(info) : 0;
  return reader;
}

// Whether scans have brought everything: of a picture with an end marker all its components, of another
// one every bit of every coefficient.
static bool has_all_scans(const postercache_jpeg *reader) {
  const struct jpeg_decompress_struct *info = &reader->info;
  for (int i = 0; i < info->num_components; i++) {
    if (!reader->has_come[i]) return false;
    if (!reader->ran_out || !info->progressive_mode || info->coef_bits == NULL) continue;
    for (int k = 0; k < DCTSIZE2; k++) {
      if (info->coef_bits[i][k] != 0) return false;
    }
  }
  return true;
}

postercache_codec_status postercache_jpeg_start(
    postercache_jpeg *reader, int32_t eighths, int32_t maximum_scans, uint64_t maximum_memory,
    bool tolerated, uint32_t *width, uint32_t *height, postercache_codec_message *message) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (setjmp(reader->way_out)) {
    *message = reader->message;
    return reader->status;
  }
  reader->tolerates_damage = tolerated;
  reader->maximum_scans = (uint32_t)maximum_scans;
  reader->progress.progress_monitor = on_progress;
  info->progress = &reader->progress;
  // Debian's libjpeg has no place to swap to: what exceeds this is an error.
  info->mem->max_memory_to_use = maximum_memory > INT64_MAX ? INT64_MAX : (long)maximum_memory;
  if (reader->is_damaged) {
    snprintf(reader->message.text, sizeof reader->message.text, "its header is damaged");
    if (!tolerated) fail(reader, POSTERCACHE_CODEC_DAMAGED);
  }
  info->scale_num = (unsigned int)eighths;
  info->scale_denom = 8;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  info->out_color_space = info->num_components == 4 ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg_start_decompress(info);
  if (jpeg_has_multiple_scans(info) && !has_all_scans(reader)) {
    snprintf(reader->message.text, sizeof reader->message.text, "scans are missing");
    reader->is_damaged = true;
    if (!tolerated) fail(reader, POSTERCACHE_CODEC_DAMAGED);
  }
  *width = info->output_width;
  *height = info->output_height;
  return POSTERCACHE_CODEC_OK;
}

// The product of two numbers from 0 to 255, divided by 255 and rounded.
static inline uint8_t product(unsigned a, unsigned b) {
  unsigned value = a * b + 128;
  return (uint8_t)((value + (value >> 8)) >> 8);
}

// Ink to light. Adobe's programs write 255 for no ink; without their marker 0 is none.
static void convert_cmyk(uint8_t *row, uint32_t width, bool is_inverted) {
  uint8_t flip = is_inverted ? 0 : 255;
  for (uint32_t x = 0; x < width; x++, row += 4) {
    unsigned key = row[3] ^ flip;
    row[0] = product(row[0] ^ flip, key);
    row[1] = product(row[1] ^ flip, key);
    row[2] = product(row[2] ^ flip, key);
    row[3] = 255;
  }
}

postercache_codec_status postercache_jpeg_read(
    postercache_jpeg *reader, uint8_t *rows, uint32_t count, postercache_codec_message *message) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (setjmp(reader->way_out)) {
    *message = reader->message;
    return reader->status;
  }
  const size_t bytes_per_row = (size_t)info->output_width * 4;
  const JDIMENSION end = info->output_scanline + count;
  JDIMENSION first = info->output_scanline;
  while (info->output_scanline < end) {
    // libjpeg gives at most as many rows at once as one row group has.
    JSAMPROW pointers[8];
    JDIMENSION wanted = end - info->output_scanline;
    if (wanted > 8) wanted = 8;
    for (JDIMENSION i = 0; i < wanted; i++) {
      pointers[i] = rows + (info->output_scanline - first + i) * bytes_per_row;
    }
    JDIMENSION got = jpeg_read_scanlines(info, pointers, wanted);
    if (info->out_color_space != JCS_CMYK) continue;
    for (JDIMENSION i = 0; i < got; i++) {
      convert_cmyk(pointers[i], info->output_width, info->saw_Adobe_marker);
    }
  }
  return POSTERCACHE_CODEC_OK;
}

postercache_codec_status postercache_jpeg_finish(
    postercache_jpeg *reader, bool *is_complete, postercache_codec_message *message) {
  if (setjmp(reader->way_out)) {
    *message = reader->message;
    *is_complete = false;
    // The rows are there.
    return reader->tolerates_damage ? POSTERCACHE_CODEC_OK : reader->status;
  }
  jpeg_finish_decompress(&reader->info);
  *is_complete = !reader->is_damaged;
  return POSTERCACHE_CODEC_OK;
}

void postercache_jpeg_close(postercache_jpeg *reader) {
  if (reader == NULL) return;
  // Frees only, and therefore reports nothing.
  jpeg_destroy_decompress(&reader->info);
  free(reader);
}
