#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: one folder per target below the folder given.

Small whole files of every format and shape, made from the standard library alone.
"""
import gzip
import pathlib
import struct
import sys
import zlib

FASTA = {
    "plain": b">a first one\nACGTacgu\n>b\n>c\nMK*-.\n",
    "crlf": b">a x\r\nACGT\r\nacgu\r\n>b\r\n\r\n",
    "blank": b"\xef\xbb\xbf\n \n>a\tx\nAC  \nGT\n\n>b\nN",
    "bad": b">a\nAC1GT\n",
    "comments": b";by hand\n>a\n A C\tGT \n;>no\nTT\r\n>b\n;\nMK V*\n;end",
    "utf16": b"\xff\xfe>\0a\0\n\0A\0",
}
FASTQ = {
    "plain": b"@a 1:N:0\nACGT\n+\n@+>!\n@b\n\n+\n\n@c\nn\n+\n~\n",
    "crlf": b"@a\r\nAC\r\n+a\r\nII\r\n\r\n@b\r\nG\r\n+\r\nI",
    "short": b"@a\nACGT\n+\nIII\n",
}
SAM = (
    b"@HD\tVN:1.6\n@SQ\tSN:t\tLN:1000\n"
    b"a\t0\tt\t5\t60\t4=\t*\t0\t0\tACGT\tIJK!\n"
    b"b\t16\tt\t5\t60\t2=2I\t*\t0\t0\tAACR\t!\"#$\tAS:i:3\n"
    b"c\t4\t*\t0\t0\t*\t*\t0\t0\tNNA\t*\n"
)


def bgzf_block(text):
    """One BGZF block; of no text: the end marker."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(text) + deflate.flush()
    size = 18 + len(packed) + 8
    header = struct.pack("<4BI2BH2BHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, size - 1)
    return header + packed + struct.pack("<II", zlib.crc32(text), len(text))


def bgzf(text):
    half = len(text) // 2
    return bgzf_block(text[:half]) + bgzf_block(text[half:]) + bgzf_block(b"")


def bam():
    header = b"@SQ\tSN:t\tLN:1000\n"
    text = b"BAM\1" + struct.pack("<I", len(header)) + header
    text += struct.pack("<II", 1, 2) + b"t\0" + struct.pack("<I", 1000)
    for flag in (0, 16, 256):
        fields = struct.pack("<iiBBHHHiiii", 0, 4, 2, 60, 4681, 1, flag, 4, -1, -1, 0)
        record = fields + b"a\0" + struct.pack("<I", 4 << 4 | 7) + b"\x12\x48" + bytes([40, 41, 2, 0])
        text += struct.pack("<I", len(record)) + record
    return bgzf(text)


def write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def main():
    root = pathlib.Path(sys.argv[1])
    for kind, texts in (("fasta", FASTA), ("fastq", FASTQ)):
        for shape, text in texts.items():
            packed = gzip.compress(text, mtime=0)
            write(root / "sequence_reader", f"{kind}-{shape}", text)
            write(root / "sequence_reader", f"{kind}-{shape}.gz", packed)
            write(root / "sequence_reader", f"{kind}-{shape}.2.gz", packed + packed + b"\0\0")
            write(root / "sequence_reader", f"{kind}-{shape}.bgz", bgzf(text))
            write(root / "sequence_reader", f"{kind}-{shape}.mixed", bgzf(text) + packed)
            write(root / "reference", f"{kind}-{shape}", text)
    write(root / "hts_input", "sam", SAM)
    write(root / "hts_input", "sam-headerless", SAM.split(b"\n")[4] + b"\n")
    write(root / "hts_input", "sam.gz", gzip.compress(SAM, mtime=0))
    write(root / "hts_input", "sam.bgz", bgzf(SAM))
    write(root / "hts_input", "bam", bam())
    for i, text in enumerate(("auto", "cpu", "gpu", "0", "0,1,15", "1,1", "-1", "0,", "99999999999")):
        write(root / "device_request", str(i), text.encode())
    rates = "start_s 0.37\nalign_score.cpu_read 1.17e+09\nkmer_count.host 2e+08\n"
    write(root / "rates", "rates", rates.encode())
    write(root / "rates", "damaged", rates.replace("e+09", "e+99").encode())
    lines = (
        "--mode sw --pairs --match 2 --mismatch -3 --gap-open 5 --gap-extend 2 q.fa t.fa -o out.tsv",
        "--mode nw --matrix blosum62 --gap-model blast --output score q.fa t.fa",
        "--mode sg_qb_de --format sam --threads 2 --device 0,1 --batch 1000 q.fa -",
        "--mode sw --alphabet protein --max-memory 2G --max-device-memory 64k --json x q.fa t.fa",
    )
    for i, line in enumerate(lines):
        write(root / "align_flags", str(i), line.replace(" ", "\n").encode())
    pictures = pathlib.Path(__file__).resolve().parent.parent / "data" / "images"
    for path in pictures.glob("*.*"):
        if path.suffix != ".tsv":
            write(root / "image_file", path.name, path.read_bytes())


main()
