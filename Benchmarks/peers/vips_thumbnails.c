// Shrinks pictures with libvips' library call, as a program that would use it does: vips_thumbnail_buffer
// from memory into memory, one thread, no cache of operations.
//
//   cc -O2 -o vips_thumbnails vips_thumbnails.c $(pkg-config --cflags --libs vips)
//   vips_thumbnails LIST
//
// LIST names a picture a line; all are read at once. Commands come on the standard input; each is answered
// by a line: the wall-clock and processor seconds it took, or "error" and why.
//
//   shrink WIDTH        every picture to this width, once
//   write WIDTH FILE    the same, not timed: each one's width, height (32 bits each) and RGBA pixels

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vips/vips.h>

struct picture {
  void *bytes;
  size_t count;
};

static struct picture *pictures;
static size_t picture_count;

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_pictures(const char *list) {
  FILE *lines = fopen(list, "r");
  if (lines == NULL) return -1;
  char path[4096];
  while (fgets(path, sizeof path, lines) != NULL) {
    path[strcspn(path, "\n")] = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return -1;
    fseek(file, 0, SEEK_END);
    struct picture picture = {NULL, (size_t)ftell(file)};
    rewind(file);
    picture.bytes = malloc(picture.count);
    if (fread(picture.bytes, 1, picture.count, file) != picture.count) return -1;
    fclose(file);
    pictures = realloc(pictures, (picture_count + 1) * sizeof *pictures);
    pictures[picture_count++] = picture;
  }
  fclose(lines);
  return 0;
}

static int shrink(struct picture picture, int width, FILE *output) {
  VipsImage *image = NULL;
  // Only the width decides.
  if (vips_thumbnail_buffer(
          picture.bytes, picture.count, &image, width, "height", VIPS_MAX_COORD, "size",
          VIPS_SIZE_DOWN, NULL) != 0) {
    return -1;
  }
  size_t count;
  uint8_t *pixels = vips_image_write_to_memory(image, &count);
  int bands = image->Bands;
  int result = pixels != NULL && (bands == 1 || bands == 3) ? 0 : -1;
  if (result == 0 && output != NULL) {
    uint32_t size[] = {(uint32_t)image->Xsize, (uint32_t)image->Ysize};
    fwrite(size, sizeof size, 1, output);
    for (size_t i = 0; i < count; i += (size_t)bands) {
      const uint8_t *color = pixels + i;
      uint8_t pixel[] = {color[0], color[bands / 2], color[bands - 1], 255};
      fwrite(pixel, sizeof pixel, 1, output);
    }
  }
  g_free(pixels);
  g_object_unref(image);
  return result;
}

static int shrink_all(int width, FILE *output) {
  for (size_t i = 0; i < picture_count; i++) {
    if (shrink(pictures[i], width, output) != 0) return -1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (VIPS_INIT(argv[0]) != 0) return 1;
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    printf("libvips %s\n", vips_version_string());
    return 0;
  }
  if (argc != 2 || read_pictures(argv[1]) != 0) {
    fprintf(stderr, "usage: vips_thumbnails LIST\n");
    return 2;
  }
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    int width = 0;
    char path[4000] = "";
    FILE *output = NULL;
    double wall = seconds(CLOCK_MONOTONIC);
    double processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int result = -1;
    if (sscanf(line, "write %d %3999s", &width, path) == 2) {
      output = fopen(path, "wb");
      if (output != NULL) result = shrink_all(width, output);
      if (output != NULL && fclose(output) != 0) result = -1;
    } else if (sscanf(line, "shrink %d", &width) == 1) {
      result = shrink_all(width, NULL);
    }
    if (result == 0) {
      printf(
          "%.9f %.9f\n", seconds(CLOCK_MONOTONIC) - wall,
          seconds(CLOCK_PROCESS_CPUTIME_ID) - processor);
    } else {
      char text[200];
      snprintf(text, sizeof text, "%s", vips_error_buffer());
      vips_error_clear();
      text[strcspn(text, "\n")] = 0;
      printf("error %s\n", text[0] ? text : line);
    }
    fflush(stdout);
  }
  vips_shutdown();
  return 0;
}
