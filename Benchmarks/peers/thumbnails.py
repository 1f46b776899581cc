"""Shrinks pictures as programs that use Pillow would, and tells how far from Pillow's best others are.

postercache-bench runs `thumbnails.py draft|thumbnail LIST` and tells it on its standard input what to do.
LIST names a picture a line; all are read at once. `draft` decodes at the nearest size that libjpeg offers,
then both make a thumbnail, with the filter that is Pillow's default. Commands, each answered on one line:

    shrink WIDTH        every picture to this width; the wall-clock and processor seconds it took
    write WIDTH FILE    the same, not timed: each one's width, height (32 bits each) and RGBA pixels
    difference FILE     of the pictures in such a file from those that `LANCZOS` makes of the whole ones:
                        the mean over all, and that of the worst picture, in levels of 256

An answer may also be `error` and why.

`thumbnails.py files LIST DIRECTORY WIDTH LEVEL` makes a PNG in DIRECTORY of each picture, with `draft` and this
compression level, and ends.
"""

import io
import os
import struct
import sys
import time

try:
    import PIL
    from PIL import Image, ImageChops, ImageStat
except ImportError:
    PIL = None


def read_pictures(path):
    pictures = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            with open(line.rstrip("\n"), "rb") as stream:
                pictures.append(stream.read())
    return pictures


def shrink(body, width, with_draft):
    image = Image.open(io.BytesIO(body))
    # Only the width decides, and a thumbnail's height is rounded as ours are.
    size = (width, max(1, round(image.height * width / image.width)))
    if with_draft:
        image.draft("RGB", size)
    image.thumbnail(size)
    return image


def write(images, path):
    with open(path, "wb") as stream:
        for image in images:
            stream.write(struct.pack("=II", *image.size))
            stream.write(image.convert("RGBA").tobytes())


def write_files(list_file, directory, width, level):
    with open(list_file, encoding="utf-8") as lines:
        for line in lines:
            path = line.rstrip("\n")
            name = os.path.splitext(os.path.basename(path))[0] + ".png"
            with open(path, "rb") as stream:
                image = shrink(stream.read(), width, True)
            image.save(os.path.join(directory, name), compress_level=level)


def difference(pictures, path):
    means = []
    with open(path, "rb") as stream:
        for body in pictures:
            size = struct.unpack("=II", stream.read(8))
            pixels = stream.read(size[0] * size[1] * 4)
            image = Image.frombytes("RGBA", size, pixels).convert("RGB")
            best = Image.open(io.BytesIO(body)).convert("RGB").resize(size, Image.LANCZOS)
            means.append(sum(ImageStat.Stat(ImageChops.difference(image, best)).mean) / 3)
    return sum(means) / len(means), max(means)


def carry_out(line, pictures, with_draft):
    command, *arguments = line.split()
    if command == "shrink":
        width = int(arguments[0])
        wall, processor = time.perf_counter(), time.process_time()
        for body in pictures:
            shrink(body, width, with_draft)
        return time.perf_counter() - wall, time.process_time() - processor
    if command == "write":
        width = int(arguments[0])
        write((shrink(body, width, with_draft) for body in pictures), arguments[1])
        return 0, 0
    if command == "difference":
        return difference(pictures, arguments[0])
    raise ValueError("there is no command " + command)


def main():
    if sys.argv[1:] == ["--version"]:
        print("not installed" if PIL is None else "Pillow " + PIL.__version__)
        return
    if sys.argv[1] == "files":
        _, list_file, directory, width, level = sys.argv[1:]
        write_files(list_file, directory, int(width), int(level))
        return
    kind, list_file = sys.argv[1:]
    pictures = read_pictures(list_file)
    for line in sys.stdin:
        try:
            answer = "%.9f %.9f" % carry_out(line, pictures, kind == "draft")
        except Exception as error:  # whoever waits for an answer gets one
            answer = "error %s: %s" % (type(error).__name__, error)
        print(answer, flush=True)


main()
