// Stores posters as other programs lay them out, re-made from what is publicly described of them, in C so that
// nobody is slow for the language it is written in.
//
//   cc -O2 -o stores stores.c -lsqlite3 -lnettle -lz
//   stores files|nuke|kingfisher|kodi|sqlite LIST
//
// LIST has a line for each poster: its address, a tab, its file; all are read at once. Commands come on the
// standard input; each is answered by a line: the wall-clock and processor seconds it took, or "error" and why.
//
//   insert DIRECTORY    every poster into a new store in this empty directory
//   hit TIMES           every poster of the last store, TIMES over in random order
//
// What each does; none has a checksum or syncs, and limits are a matter of sweeps that are not measured:
//
//   files       A file for each, under a temporary name and renamed: the least that is safe to read at any time.
//   nuke        Nuke's DataCache: the address' SHA-1 is the file's name; written in place, read whole. The order
//               of use is the file system's access time.
//   kingfisher  Kingfisher's DiskStorage: the MD5 is the name; written in place, then its dates are set (last use
//               and expiry). A hit looks whether the file is there, at its dates, reads it and sets the dates.
//               Linux has no settable creation date, so the access time stands for it.
//   kodi        Kodi's TextureCache: the CRC-32 is the name, its first digit the directory. Rows of two SQLite
//               tables say which file and how often it was used: found by address at each hit, use noted a
//               hundred hits at a time.
//   sqlite      One table of names and blobs, 25 posters a transaction, and no order of use.
//
// SQLite runs in WAL mode with synchronous = NORMAL, which syncs at checkpoints alone. Statements are prepared
// once. Names of files are made in advance.
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <sqlite3.h>
#include <zlib.h>

enum { batch = 25, uses_a_batch = 100, week = 7 * 24 * 3600 };

struct poster {
  char *address;
  char name[64];  // of its file, below the store's directory
  char *bytes;
  size_t count;
};

static struct poster *posters;
static size_t poster_count, total_bytes;
static int directory = -1;  // the store's
static sqlite3 *database;
static sqlite3_stmt *statements[4];
static char failure[300];

// Notes why something failed; returns -1.
__attribute__((format(printf, 1, 2))) static int fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  return -1;
}

static int fail_call(const char *call, const char *name) {
  return fail("%s %s: %s", call, name, strerror(errno));
}

static int fail_database(void) { return fail("SQLite: %s", sqlite3_errmsg(database)); }

// Files

static int write_file(const char *name, const struct poster *poster) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return fail_call("openat", name);
  ssize_t written = write(file, poster->bytes, poster->count);
  if (close(file) != 0 || written != (ssize_t)poster->count) return fail_call("write", name);
  return 0;
}

// Reads a whole file into memory of its own, as whoever hands it out must; returns its length, or -1.
static ssize_t read_file(const char *name) {
  int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_call("openat", name);
  struct stat status;
  ssize_t count = -1;
  if (fstat(file, &status) == 0) {
    char *bytes = malloc((size_t)status.st_size);
    if (bytes) count = read(file, bytes, (size_t)status.st_size);
    free(bytes);
  }
  close(file);
  return count < 0 ? fail_call("read", name) : count;
}

static int insert_file(const struct poster *poster) {
  char temporary[80];
  snprintf(temporary, sizeof temporary, "%s.tmp", poster->name);
  if (write_file(temporary, poster) != 0) return -1;
  return renameat(directory, temporary, directory, poster->name) == 0
             ? 0
             : fail_call("renameat", poster->name);
}

static ssize_t hit_file(const struct poster *poster) { return read_file(poster->name); }

static int insert_nuke(const struct poster *poster) { return write_file(poster->name, poster); }

static int set_dates(const char *name) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  struct timespec dates[2] = {now, {.tv_sec = now.tv_sec + week, .tv_nsec = now.tv_nsec}};
  return utimensat(directory, name, dates, 0) == 0 ? 0 : fail_call("utimensat", name);
}

static int insert_kingfisher(const struct poster *poster) {
  return write_file(poster->name, poster) == 0 ? set_dates(poster->name) : -1;
}

static ssize_t hit_kingfisher(const struct poster *poster) {
  struct stat status;
  if (faccessat(directory, poster->name, F_OK, 0) != 0) return fail_call("access", poster->name);
  if (fstatat(directory, poster->name, &status, 0) != 0) return fail_call("stat", poster->name);
  if (status.st_mtime < time(NULL)) return fail("%s has expired", poster->name);
  ssize_t count = read_file(poster->name);
  return count >= 0 && set_dates(poster->name) != 0 ? -1 : count;
}

// SQLite

static int execute(const char *text) {
  return sqlite3_exec(database, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_database();
}

// Opens a database in the store's directory, makes its tables and prepares its statements.
static int open_database(const char *path, const char *tables, const char *const *texts) {
  char file[4096];
  snprintf(file, sizeof file, "%s/posters.db", path);
  for (int place = 0; place < 4; place++) {
    sqlite3_finalize(statements[place]);
    statements[place] = NULL;
  }
  sqlite3_close(database);
  if (sqlite3_open(file, &database) != SQLITE_OK) return fail_database();
  if (execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") != 0) return -1;
  if (execute(tables) != 0) return -1;
  for (int place = 0; texts[place]; place++) {
    if (sqlite3_prepare_v3(
            database, texts[place], -1, SQLITE_PREPARE_PERSISTENT, &statements[place], NULL)
        != SQLITE_OK) {
      return fail_database();
    }
  }
  return 0;
}

// Runs a statement that gives no rows, with its parameters bound.
static int step(sqlite3_stmt *statement) {
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE ? 0 : fail_database();
}

static int open_sqlite(const char *path) {
  static const char *const texts[] = {
      "INSERT OR REPLACE INTO posters VALUES (?, ?)", "SELECT body FROM posters WHERE name = ?", NULL};
  return open_database(path, "CREATE TABLE posters (name TEXT PRIMARY KEY, body BLOB)", texts);
}

static int insert_sqlite(const struct poster *poster) {
  size_t place = (size_t)(poster - posters);
  if (place % batch == 0 && execute("BEGIN IMMEDIATE") != 0) return -1;
  sqlite3_bind_text(statements[0], 1, poster->address, -1, SQLITE_STATIC);
  sqlite3_bind_blob(statements[0], 2, poster->bytes, (int)poster->count, SQLITE_STATIC);
  if (step(statements[0]) != 0) return -1;
  if ((place + 1) % batch != 0 && place + 1 != poster_count) return 0;
  return execute("COMMIT");
}

static ssize_t hit_sqlite(const struct poster *poster) {
  sqlite3_stmt *statement = statements[1];
  sqlite3_bind_text(statement, 1, poster->address, -1, SQLITE_STATIC);
  ssize_t count = -1;
  if (sqlite3_step(statement) == SQLITE_ROW) {
    count = sqlite3_column_bytes(statement, 0);
    // SQLite's own memory lasts until the next step only.
    void *bytes = malloc((size_t)count);
    if (bytes) memcpy(bytes, sqlite3_column_blob(statement, 0), (size_t)count);
    __asm__ volatile("" : : "r"(bytes) : "memory");
    free(bytes);
  }
  sqlite3_reset(statement);
  return count < 0 ? fail_database() : count;
}

static int open_kodi(const char *path) {
  static const char *const texts[] = {
      "INSERT INTO texture (url, cachedurl, imagehash, lasthashcheck) VALUES (?, ?, '', '')",
      "INSERT INTO sizes (idtexture, size, usecount, lastusetime, width, height) "
      "VALUES (?, 1, 1, CURRENT_TIMESTAMP, 342, 513)",
      "SELECT id, cachedurl, lasthashcheck, imagehash, width, height FROM texture "
      "JOIN sizes ON (texture.id = sizes.idtexture AND sizes.size = 1) WHERE url = ?",
      "UPDATE sizes SET usecount = usecount + 1, lastusetime = CURRENT_TIMESTAMP "
      "WHERE idtexture = ? AND width = 342 AND height = 513",
      NULL};
  for (int digit = 0; digit < 16; digit++) {
    char name[2] = {"0123456789abcdef"[digit], 0};
    if (mkdirat(directory, name, 0755) != 0) return fail_call("mkdir", name);
  }
  return open_database(
      path,
      "CREATE TABLE texture (id INTEGER PRIMARY KEY, url TEXT, cachedurl TEXT, imagehash TEXT, "
      "lasthashcheck TEXT); CREATE INDEX textures ON texture (url);"
      "CREATE TABLE sizes (idtexture INTEGER, size INTEGER, width INTEGER, height INTEGER, "
      "usecount INTEGER, lastusetime TEXT); CREATE INDEX sizing ON sizes (idtexture, size)",
      texts);
}

static int insert_kodi(const struct poster *poster) {
  if (write_file(poster->name, poster) != 0) return -1;
  // Both rows in one transaction, which is better than a transaction each.
  if (execute("BEGIN IMMEDIATE") != 0) return -1;
  sqlite3_bind_text(statements[0], 1, poster->address, -1, SQLITE_STATIC);
  sqlite3_bind_text(statements[0], 2, poster->name, -1, SQLITE_STATIC);
  if (step(statements[0]) != 0) return -1;
  sqlite3_bind_int64(statements[1], 1, sqlite3_last_insert_rowid(database));
  if (step(statements[1]) != 0) return -1;
  return execute("COMMIT");
}

static ssize_t hit_kodi(const struct poster *poster) {
  static sqlite3_int64 used[uses_a_batch];
  static int used_count;
  sqlite3_stmt *statement = statements[2];
  sqlite3_bind_text(statement, 1, poster->address, -1, SQLITE_STATIC);
  ssize_t count = -1;
  if (sqlite3_step(statement) == SQLITE_ROW) {
    used[used_count++] = sqlite3_column_int64(statement, 0);
    count = read_file((const char *)sqlite3_column_text(statement, 1));
  }
  sqlite3_reset(statement);
  if (count < 0) return failure[0] ? -1 : fail_database();
  if (used_count < uses_a_batch) return count;
  if (execute("BEGIN IMMEDIATE") != 0) return -1;
  while (used_count > 0) {
    sqlite3_bind_int64(statements[3], 1, used[--used_count]);
    if (step(statements[3]) != 0) return -1;
  }
  return execute("COMMIT") == 0 ? count : -1;
}

// Names

static void write_digits(char *name, const uint8_t *digest, size_t count) {
  for (size_t place = 0; place < count; place++) sprintf(name + 2 * place, "%02x", digest[place]);
}

static void name_by_sha1(struct poster *poster) {
  struct sha1_ctx context;
  uint8_t digest[SHA1_DIGEST_SIZE];
  sha1_init(&context);
  sha1_update(&context, strlen(poster->address), (const uint8_t *)poster->address);
  sha1_digest(&context, sizeof digest, digest);
  write_digits(poster->name, digest, sizeof digest);
}

static void name_by_md5(struct poster *poster) {
  struct md5_ctx context;
  uint8_t digest[MD5_DIGEST_SIZE];
  md5_init(&context);
  md5_update(&context, strlen(poster->address), (const uint8_t *)poster->address);
  md5_digest(&context, sizeof digest, digest);
  write_digits(poster->name, digest, sizeof digest);
}

static void name_by_crc(struct poster *poster) {
  uLong sum = crc32(0, NULL, 0);
  for (const char *place = poster->address; *place; place++) {
    Bytef letter = (Bytef)tolower((unsigned char)*place);
    sum = crc32(sum, &letter, 1);
  }
  snprintf(poster->name, sizeof poster->name, "%lx/%08lx.jpg", sum >> 28, sum);
}

static const struct kind {
  const char *name;
  void (*name_poster)(struct poster *);
  int (*open)(const char *path);
  int (*insert)(const struct poster *);
  ssize_t (*hit)(const struct poster *);
} kinds[] = {
    {"files", name_by_md5, NULL, insert_file, hit_file},
    {"nuke", name_by_sha1, NULL, insert_nuke, hit_file},
    {"kingfisher", name_by_md5, NULL, insert_kingfisher, hit_kingfisher},
    {"kodi", name_by_crc, open_kodi, insert_kodi, hit_kodi},
    {"sqlite", name_by_md5, open_sqlite, insert_sqlite, hit_sqlite},
};

// The program

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_posters(const char *list, const struct kind *kind) {
  FILE *lines = fopen(list, "r");
  if (!lines) return -1;
  char line[8192];
  while (fgets(line, sizeof line, lines)) {
    line[strcspn(line, "\n")] = 0;
    char *tab = strchr(line, '\t');
    FILE *file = tab ? fopen(tab + 1, "rb") : NULL;
    if (!file) return -1;
    *tab = 0;
    posters = realloc(posters, (poster_count + 1) * sizeof *posters);
    struct poster *poster = &posters[poster_count++];
    poster->address = strdup(line);
    fseek(file, 0, SEEK_END);
    poster->count = (size_t)ftell(file);
    rewind(file);
    poster->bytes = malloc(poster->count);
    if (fread(poster->bytes, 1, poster->count, file) != poster->count) return -1;
    fclose(file);
    total_bytes += poster->count;
    kind->name_poster(poster);
  }
  fclose(lines);
  return 0;
}

static int open_store(const struct kind *kind, const char *path) {
  if (directory >= 0) close(directory);
  directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return fail_call("open", path);
  return kind->open ? kind->open(path) : 0;
}

static int insert_all(const struct kind *kind) {
  for (size_t place = 0; place < poster_count; place++) {
    if (kind->insert(&posters[place]) != 0) return -1;
  }
  return 0;
}

static int hit_all(const struct kind *kind, const size_t *order, size_t count) {
  size_t read = 0;
  for (size_t place = 0; place < count; place++) {
    ssize_t bytes = kind->hit(&posters[order[place]]);
    if (bytes < 0) return -1;
    read += (size_t)bytes;
  }
  if (read != total_bytes * (count / poster_count)) return fail("%zu bytes were read", read);
  return 0;
}

// Every poster `times` over; each time in another order, the same in every run.
static size_t *shuffled(size_t times) {
  static uint64_t state = 1;
  size_t *order = malloc(times * poster_count * sizeof *order);
  for (size_t time = 0; order && time < times; time++) {
    size_t *part = order + time * poster_count;
    for (size_t place = 0; place < poster_count; place++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      size_t other = (size_t)((state >> 33) % (place + 1));
      part[place] = part[other];
      part[other] = place;
    }
  }
  return order;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--version") == 0) {
    printf("SQLite %s\n", sqlite3_libversion());
    return 0;
  }
  const struct kind *kind = NULL;
  for (size_t place = 0; count == 3 && place < sizeof kinds / sizeof *kinds; place++) {
    if (strcmp(kinds[place].name, arguments[1]) == 0) kind = &kinds[place];
  }
  if (!kind) {
    fprintf(stderr, "usage: stores files|nuke|kingfisher|kodi|sqlite LIST\n");
    return 2;
  }
  if (read_posters(arguments[2], kind) != 0 || poster_count == 0) {
    fprintf(stderr, "stores: cannot read the posters of %s\n", arguments[2]);
    return 1;
  }
  char line[4096], path[4096];
  while (fgets(line, sizeof line, stdin)) {
    size_t times = 0;
    int result = -1;
    size_t *order = NULL;
    failure[0] = 0;
    double wall = 0, processor = 0;
    if (sscanf(line, "insert %4095s", path) == 1) {
      if (open_store(kind, path) == 0) {
        wall = seconds(CLOCK_MONOTONIC), processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
        result = insert_all(kind);
      }
    } else if (sscanf(line, "hit %zu", &times) == 1 && (order = shuffled(times))) {
      wall = seconds(CLOCK_MONOTONIC), processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
      result = hit_all(kind, order, times * poster_count);
    } else {
      fail("not understood");
    }
    if (result == 0) {
      printf("%.9f %.9f\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - processor);
    } else {
      printf("error %s\n", failure);
    }
    fflush(stdout);
    free(order);
  }
  return 0;
}
