#!/usr/bin/env python3
"""Writes small pictures of every kind that the image reader knows, and their pixels by OpenCV.

usage: make_images.py FOLDER

PNG and BMP files are written byte by byte here, JPEG and TIFF by Pillow and tifffile. pixels.tsv has
a line a page: file, page from 1, width, height, and the pixels as cv2.imread gives them, in hexadecimal,
red, green and blue. Needs opencv-python-headless, pillow and tifffile.
"""
import io
import pathlib
import struct
import sys
import zlib

import cv2
import numpy as np
import tifffile
from PIL import Image

WIDTH, HEIGHT = 11, 6
RANDOM = np.random.default_rng(20)


def png_chunk(name, content):
    return (struct.pack(">I", len(content)) + name + content
            + struct.pack(">I", zlib.crc32(name + content)))


def packed_rows(samples, depth):
    """Rows of samples, each after a byte for its filter (none)."""
    text = b""
    for row in samples.reshape(samples.shape[0], -1):
        if depth == 16:
            text += b"\0" + row.astype(">u2").tobytes()
        elif depth == 8:
            text += b"\0" + row.astype(np.uint8).tobytes()
        else:
            bits = ((row[:, None] >> np.arange(depth - 1, -1, -1)) & 1).reshape(-1)
            text += b"\0" + np.packbits(bits.astype(np.uint8)).tobytes()
    return text


def png(colour_type, depth, *, chunks=(), interlaced=False, behind=()):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    samples = RANDOM.integers(0, 2**depth, (HEIGHT, WIDTH, channels))
    samples[0, :3] = 2**depth - 1
    if interlaced:
        steps = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
                 (1, 0, 2, 1)]
        parts = [samples[y::dy, x::dx] for y, x, dy, dx in steps]
        text = b"".join(packed_rows(part, depth) for part in parts if part.size)
    else:
        text = packed_rows(samples, depth)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour_type, 0, 0, int(interlaced))
    body = b"".join(png_chunk(name, content) for name, content in chunks)
    body += png_chunk(b"IDAT", zlib.compress(text, 9))
    body += b"".join(png_chunk(name, content) for name, content in behind)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + body + png_chunk(b"IEND", b"")


def palette(depth):
    return b"PLTE", RANDOM.integers(0, 256, 3 * 2**depth, dtype=np.uint8).tobytes()


def exif(orientation, order="<"):
    mark = b"II" if order == "<" else b"MM"
    return mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def png_files():
    for depth in (1, 2, 4, 8, 16):
        yield f"gray{depth}.png", png(0, depth)
        yield f"gray{depth}_interlaced.png", png(0, depth, interlaced=True)
    for depth in (1, 2, 4, 8):
        yield f"palette{depth}.png", png(3, depth, chunks=[palette(depth)])
    for depth in (8, 16):
        yield f"gray_alpha{depth}.png", png(4, depth)
        yield f"rgb{depth}.png", png(2, depth)
        yield f"rgba{depth}.png", png(6, depth)
    yield "rgb8_interlaced.png", png(2, 8, interlaced=True)
    yield "rgba16_interlaced.png", png(6, 16, interlaced=True)
    yield "palette4_alpha.png", png(3, 4, chunks=[palette(4), (b"tRNS", bytes(range(0, 160, 10)))])
    yield "gray8_key.png", png(0, 8, chunks=[(b"tRNS", b"\0\xff")])
    yield "rgb8_key.png", png(2, 8, chunks=[(b"tRNS", b"\0\xff" * 3)])
    yield "rgb8_gamma.png", png(2, 8, chunks=[(b"gAMA", struct.pack(">I", 45455))])
    yield "rgb8_exif6.png", png(2, 8, chunks=[(b"eXIf", exif(6))])


def smooth(channels):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [(x * 20 + y * (11 + 9 * c) + 60 * c) % 256 for c in range(channels)]
    return np.stack(planes, axis=2).astype(np.uint8)


def jpeg(mode, **options):
    pixels = smooth(len(mode)) if mode != "L" else smooth(1)[:, :, 0]
    out = io.BytesIO()
    Image.fromarray(pixels, mode).save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def jpeg_files():
    yield "gray.jpg", jpeg("L")
    yield "rgb.jpg", jpeg("RGB", subsampling=0)
    yield "rgb_420.jpg", jpeg("RGB", subsampling=2)
    yield "rgb_progressive.jpg", jpeg("RGB", progressive=True)
    yield "cmyk.jpg", jpeg("CMYK")
    for i in range(1, 9):
        data = b"Exif\0\0" + exif(i, "<" if i % 2 else ">")
        yield f"rgb_exif{i}.jpg", jpeg("RGB", subsampling=0, exif=data)


def tiff(samples, *, pages=1, order="<", **options):
    out = io.BytesIO()
    with tifffile.TiffWriter(out, byteorder=order) as writer:
        for page in range(pages):
            writer.write(np.roll(samples, page, axis=0), contiguous=False, metadata=None,
                         software=None, **options)
    return out.getvalue()


def tiff_files():
    gray = smooth(1)[:, :, 0]
    yield "gray8.tif", tiff(gray, photometric="minisblack")
    yield "white0.tif", tiff(gray, photometric="miniswhite")
    yield "rgb8_pages.tif", tiff(smooth(3), pages=3, photometric="rgb")
    yield "rgb8_big_endian.tif", tiff(smooth(3), photometric="rgb", order=">")
    yield "planar.tif", tiff(np.moveaxis(smooth(3), 2, 0).copy(), photometric="rgb",
                             planarconfig="separate")
    yield "tiles.tif", tiff(smooth(3), photometric="rgb", tile=(16, 16), compression="zlib")
    bits = Image.fromarray(gray > 99)
    for compression in ("group4", "tiff_lzw", "packbits"):
        out = io.BytesIO()
        picture = bits if compression == "group4" else Image.fromarray(smooth(3), "RGB")
        picture.save(out, "TIFF", compression=compression)
        yield f"{compression}.tif", out.getvalue()
    for i in (3, 6, 8):
        yield f"rgb8_turned{i}.tif", tiff(smooth(3), photometric="rgb",
                                          extratags=[(274, "H", 1, i, True)])


def bmp(bits, pixels, *, compression=0, colours=b"", masks=b"", height=HEIGHT, core=False):
    size = 12 if core else 40
    offset = 14 + size + len(masks) + len(colours)
    if core:
        info = struct.pack("<IHHHH", 12, WIDTH, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", 40, WIDTH, height, 1, bits, compression, len(pixels), 0, 0,
                           0, 0)
    head = b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset)
    return head + info + masks + colours + pixels


def bmp_rows(bits):
    n = (WIDTH * bits + 31) // 32 * 4
    return RANDOM.integers(0, 256, n * HEIGHT, dtype=np.uint8).tobytes()


def bmp_colours(bits, entry=4):
    table = RANDOM.integers(0, 256, (2**bits, entry), dtype=np.uint8)
    if entry == 4:
        table[:, 3] = 0
    return table.tobytes()


def runs8():
    text = b""
    for row in range(HEIGHT):
        text += bytes([4, 10 + row, 0, 5, 1, 2, 3, 4, 5, 0, 2, 200, 0, 0])
    return text + b"\0\1"


def runs4():
    text = b""
    for row in range(HEIGHT):
        text += bytes([5, 0x37 + row, 0, 6, 0x12, 0x34, 0x56, 0, 0, 0])
    return text + b"\0\1"


def bmp_files():
    for bits in (1, 4, 8):
        yield f"palette{bits}.bmp", bmp(bits, bmp_rows(bits), colours=bmp_colours(bits))
    yield "core8.bmp", bmp(8, bmp_rows(8), colours=bmp_colours(8, 3), core=True)
    yield "core24.bmp", bmp(24, bmp_rows(24), core=True)
    yield "rgb16.bmp", bmp(16, bmp_rows(16))
    yield "rgb565.bmp", bmp(16, bmp_rows(16), compression=3,
                            masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F))
    yield "rgb24.bmp", bmp(24, bmp_rows(24))
    yield "rgb24_from_top.bmp", bmp(24, bmp_rows(24), height=-HEIGHT)
    yield "rgb32.bmp", bmp(32, bmp_rows(32))
    yield "runs8.bmp", bmp(8, runs8(), compression=1, colours=bmp_colours(8))
    yield "runs4.bmp", bmp(4, runs4(), compression=2, colours=bmp_colours(4))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["#file\tpage\twidth\theight\tpixels of OpenCV\n"]
    for files in (png_files(), jpeg_files(), tiff_files(), bmp_files()):
        for name, content in files:
            (folder / name).write_bytes(content)
            read, pages = cv2.imreadmulti(str(folder / name), flags=cv2.IMREAD_COLOR)
            if not name.endswith(".tif"):
                pages = [cv2.imread(str(folder / name))]
            if not read or pages[0] is None:
                sys.exit(f"{name}: OpenCV cannot read it")
            for page, pixels in enumerate(pages, 1):
                rgb = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
                height, width, _ = rgb.shape
                lines.append(f"{name}\t{page}\t{width}\t{height}\t{rgb.tobytes().hex()}\n")
    (folder / "pixels.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main()
