"""Awkward sequence files: lengths around nothing, N, lower case, CRLF, names of every kind, gz of several members."""

import gzip
import struct
import zlib

DNA = "ACGT"
PROTEIN = "ARNDCQEGHILKMFPSTWYV"
COMPLEMENT = str.maketrans("ACGTNacgtn", "TGCANtgcan")


def reverse_complement(sequence):
    return sequence.translate(COMPLEMENT)[::-1]


def sequence(draw, length, letters=DNA):
    """Random, or of few letters, or a repeat."""
    kind = draw.upto(9)
    if kind == 0:
        letters = "".join(draw.of(letters) for _ in range(draw.of((1, 2))))
    if kind == 1:
        unit = "".join(draw.rng.choices(letters, k=draw.upto(7, 1)))
        return (unit * (length // len(unit) + 1))[:length]
    return "".join(draw.rng.choices(letters, k=length))


def soiled(draw, text, odd="N", chance=0.25):
    """With odd letters, a run of them, or in lower case."""
    if not text or not draw.chance(chance):
        return text
    kind = draw.upto(3)
    if kind == 0:
        return text.lower()
    letters = list(text)
    if kind == 1:
        begin = draw.upto(len(letters) - 1)
        end = min(len(letters), begin + draw.upto(20, 1))
        letters[begin:end] = draw.of(odd) * (end - begin)
    else:
        for _ in range(draw.upto(5, 1)):
            at = draw.upto(len(letters) - 1)
            letters[at] = draw.of(odd) if kind == 2 else letters[at].lower()
    return "".join(letters)


def length(draw):
    """Of a read: often around nothing."""
    return draw.of((0, 1, 2, draw.upto(12), draw.upto(40), draw.upto(40, 25), draw.upto(160, 30), draw.upto(300)))


def name(draw, n):
    kind = draw.upto(11)
    if kind == 0:
        return "same"
    if kind == 1:
        return f"r{n}\tand a tab"
    if kind == 2:
        return f"r{n}" + "x" * draw.of((100, 254, 255, 256, 1100, 5000))
    if kind == 3:
        return f"r{n} with  words =and% signs;"
    return f"r{n}"


def qualities(draw, size):
    kind = draw.upto(7)
    if kind == 0:
        return draw.of("!\"#+5?@AIJ~") * size
    if kind == 1:
        return "".join(draw.rng.choices("!~", k=size))
    if kind == 2:
        return "".join(chr(draw.upto(126, 33)) for _ in range(size))
    if kind == 3:
        return "".join(chr(33 + max(0, 40 - 40 * i // max(1, size))) for i in range(size))
    if kind == 4:
        return "".join(chr(33 + min(40, 40 * i // max(1, size))) for i in range(size))
    low, high = draw.of(((30, 40), (2, 40), (10, 25), (18, 22)))
    return "".join(chr(33 + draw.upto(high, low)) for _ in range(size))


def line_end(draw, chance=0.1):
    return "\r\n" if draw.chance(chance) else "\n"


def fastq(draw, records, end="\n", final=True):
    """The text of (name, sequence, qualities); the third line now and then repeats the name."""
    text = []
    for title, bases, scores in records:
        plus = "+" + title if draw.chance(0.03) else "+"
        text.append(f"@{title}{end}{bases}{end}{plus}{end}{scores}{end}")
    whole = "".join(text)
    return (whole if final else whole[:len(whole) - len(end)]).encode()


def fasta(draw, records, end="\n", final=True, width=0):
    """The text of (name, sequence), wrapped where width is given."""
    text = []
    for title, bases in records:
        text.append(f">{title}{end}")
        step = width or max(1, len(bases))
        text += [bases[i:i + step] + end for i in range(0, len(bases), step)]
        if not bases and draw.chance(0.5):
            text.append(end)
    whole = "".join(text)
    return (whole if final or not whole else whole[:len(whole) - len(end)]).encode()


def packed(draw, data):
    """gzip: one member, several, an empty one between."""
    n = draw.of((1, 1, 2, 3, 7))
    cuts = sorted(draw.upto(len(data)) for _ in range(n - 1))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    if draw.chance(0.2):
        pieces.insert(draw.upto(len(pieces)), b"")
    draw.note("(gzip of several members)" if len(pieces) > 1 else "(gzip)")
    return b"".join(gzip.compress(piece, draw.of((0, 1, 6, 9)), mtime=0) for piece in pieces)


def bgzf_block(data):
    """Up to 64 KiB; without text it is the block that ends a file."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    return (b"\x1f\x8b\x08\4\0\0\0\0\0\xff\6\0BC\2\0" + struct.pack("<H", len(body) + 25) + body
            + struct.pack("<2I", zlib.crc32(data), len(data)))


def joined_bgzf(draw, data):
    """BGZF as 'cat' puts it together: each part ends in the block that ends a file."""
    cuts = sorted(draw.upto(len(data)) for _ in range(draw.of((0, 1, 2, 5))))
    step = draw.of((500, 4000, 60000))
    text = b""
    for a, b in zip([0, *cuts], [*cuts, len(data)]):
        text += b"".join(bgzf_block(data[i:min(b, i + step)]) for i in range(a, b, step)) + bgzf_block(b"")
    draw.note("(BGZF put together)" if cuts else "(BGZF)")
    return text
