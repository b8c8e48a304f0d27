#!/usr/bin/env bash
# `biogpu qc` loses nothing and says so: what came in is what went out and what was removed, in the log and in the
# JSON; and BGZF files put together, whose inner parts end in an end-of-file block, are read to their end (fastp 1.3.0
# to 1.3.6 stop at the first of these blocks).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python3 - <<'P'
import random, struct, zlib

def block(data):
    packer = zlib.compressobj(4, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    head = b"\x1f\x8b\x08\4\0\0\0\0\0\xff\6\0BC\2\0" + struct.pack("<H", len(packed) + 25)
    return head + packed + struct.pack("<2I", zlib.crc32(data), len(data))

rng = random.Random(41)
end = block(b"")
assert len(end) == 28
other = str.maketrans("ACGTN", "TGCAN")
texts, mates = ["", ""], []
for i in range(4300):
    size = rng.choice((15, 40, rng.randrange(20, 250)))
    text = "".join(rng.choices("ACGT", k=size))
    if mates and rng.random() < 0.1: text = rng.choice(mates)
    mates.append(text)
    for m, fragment in enumerate((text, text[::-1].translate(other))):
        adapter = ("AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT")[m]
        read = (fragment + adapter + "A" * 30)[:100]
        if rng.random() < 0.1: read = read[:40] + "NNNNNNNN" + read[48:]
        low = rng.random() < 0.15
        quality = "".join(chr(33 + (rng.randint(2, 15) if low else rng.randint(18, 41))) for _ in read)
        texts[m] += f"@r{i} {m + 1}:N:0:{'ACGT' if i % 50 else 'TTTT'}\n{read}\n+\n{quality}\n"
for m, text in enumerate(texts):
    data = text.encode()
    open(f"r{m + 1}.fq", "wb").write(data)
    with open(f"parts{m + 1}.fq.gz", "wb") as to:
        to.write(end + end)
        for at in range(0, len(data), 30000):  # every part ends within a record
            part = data[at:at + 30000]
            to.write(b"".join(block(part[k:k + 9000]) for k in range(0, len(part), 9000)) + end * (1 + at % 7 // 3))
both = [t.splitlines() for t in texts]
with open("both.fq", "w") as to:
    for i in range(0, len(both[0]), 4):
        for lines in both: to.write("\n".join(lines[i:i + 4]) + "\n")
open("index.txt", "w").write("TTTT\n")
P

# balanced JSON OUTPUT...: the report's reads and bases add up, to what these files hold.
# shellcheck disable=SC2317  # called through check
balanced() { python3 - "$@" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
reads, bases = j["biogpu"]["reads"], j["biogpu"]["bases"]
before = j["summary"]["before_filtering"]
lines = [line for name in sys.argv[2:] for line in open(name).read().splitlines()[1::4]]
merged = j["biogpu"]["reads"]["passed"] and "merged_and_filtered" in j
fates = sum(n for name, n in reads.items() if name != "in")
problems = [
    fates != reads["in"], reads["in"] != before["total_reads"], bases["in"] != before["total_bases"],
    bases["in"] != bases["out"] + bases["removed"] + bases["trimmed"],
    not merged and len(lines) != reads["passed"] + reads["unpaired"], sum(map(len, lines)) != bases["out"],
    reads["in"] not in (4300, 8600)]
if any(problems): sys.exit(f"{problems} {reads} {bases} {before} {len(lines)}")
P
}
# log_says IN OUT: the log's lines have these numbers of reads.
# shellcheck disable=SC2317
log_says() { err_has "^\[biogpu qc .*\] in: $1 reads, " && err_has "^\[biogpu qc .*\] out: $2 reads, " && err_has "^\[biogpu qc .*\] removed: "; }

pairs=(-i r1.fq -I r2.fq -o o1.fq -O o2.fq -j q.json -h q.html)
works qc "${pairs[@]}"
check "pairs" balanced q.json o1.fq o2.fq
passed=$(($(wc -l <o1.fq) / 2))
check "the log" log_says 8600 $passed
check "bytes of the files" err_has "in: .*; $(cat r1.fq r2.fq | wc -c) of $(cat r1.fq r2.fq | wc -c) bytes$"
check "bytes of the outputs" err_has "out: .*; $(cat o1.fq o2.fq | wc -c) bytes$"
works qc -i r1.fq -I r2.fq -j q.json -h q.html
check "without outputs those that pass are out" log_says 8600 $passed
works qc -t 2 "${pairs[@]}"
check "-t is not the number of threads" err_has '^\[biogpu qc .*\] -t 2: 2 bases cut off the tail of every read; threads are -w$'
works qc -t 1 "${pairs[@]}"
check "one of them" err_has '] -t 1: 1 base cut off'
for profile in fastp-0.23 fastp-1; do
  works qc --profile $profile "${pairs[@]}" --unpaired1 u1.fq --unpaired2 u2.fq -5 -3 -x
  check "$profile: mates alone" balanced q.json o1.fq o2.fq u1.fq u2.fq
  works qc --profile $profile "${pairs[@]}" -D -c --failed_out f.fq
  check "$profile: duplicates" balanced q.json o1.fq o2.fq
  check "they are named" err_has 'removed: .* reads by filters, [1-9][0-9]* as duplicates, '
  works qc --profile $profile "${pairs[@]}" --filter_by_index1 index.txt -w 1
  check "$profile: listed indices" balanced q.json o1.fq o2.fq
  check "they are named too" err_has 'removed: .* reads by filters, 172 by their index, '
  works qc --profile $profile "${pairs[@]}" -m --merged_out m.fq -U --umi_loc per_read --umi_len 3
  check "$profile: merged mates" balanced q.json m.fq o1.fq o2.fq
  works qc --profile $profile "${pairs[@]}" --unpaired2 alone2.fq -5 -3 -x --failed_out f.fq
  check "$profile: the file of second mates alone is empty" [ ! -s alone2.fq ]
  check "$profile: which counts as no output" balanced q.json o1.fq o2.fq
  works qc --profile $profile "${pairs[@]}" --unpaired1 alone1.fq -5 -3 -x
  check "$profile: all mates alone in one file" balanced q.json o1.fq o2.fq alone1.fq
  for more in -5 --dedup --failed_out=f.fq; do
    works qc --profile $profile -i r1.fq -I r2.fq -m --merged_out m.fq -j q.json -h q.html $more
    check "$profile, $more: merged mates alone" balanced q.json m.fq
    check "$profile, $more: in the log too" log_says 8600 $(($(wc -l <m.fq) / 2))
    "$biogpu" qc --profile $profile -i r1.fq -I r2.fq -m --stdout -j q.json -h q.html $more >s.fq 2>err.txt
    check "$profile, $more: merged mates on standard output" balanced q.json s.fq
  done
  works qc --profile $profile -i r1.fq -I r2.fq -m --merged_out m.fq --include_unmerged -j q.json -h q.html -D
  check "$profile: merged mates and others" balanced q.json m.fq
  works qc --profile $profile -i r1.fq -o o.fq -j q.json -h q.html -D -l 50 --batch 1000
  check "$profile: single reads" balanced q.json o.fq
done
if [ "$backend" = emulated ]; then
  works qc "${pairs[@]}" -c --device gpu --batch 1000
  check "on a GPU" balanced q.json o1.fq o2.fq
fi
works qc --quiet "${pairs[@]}"
check "not with --quiet" err_is_empty

# Files that were put together, and blocks without text before them and in a row.
cp o1.fq whole1.fq
cp o2.fq whole2.fq
for w in 1 4 9; do
  works qc -w $w -i parts1.fq.gz -I parts2.fq.gz -o o1.fq -O o2.fq -j q.json -h q.html
  check "-w $w: all pairs" balanced q.json o1.fq o2.fq
  check "-w $w: their first mates" same_files whole1.fq o1.fq
  check "-w $w: their second mates" same_files whole2.fq o2.fq
  check "-w $w: no warning" bash -c '! grep -qi warn err.txt'
  works qc -w $w -i parts1.fq.gz -o o.fq.gz -A -j q.json -h q.html
  check "-w $w: all single reads" log_says 4300 "$(($(gzip -dc o.fq.gz | wc -l) / 4))"
done
"$biogpu" qc --stdin --stdout -A -j q.json -h q.html <parts1.fq.gz >o.fq 2>err.txt
check "standard input" balanced q.json o.fq
head -c $(($(wc -c <parts1.fq.gz) * 2 / 3)) parts1.fq.gz >cut.fq.gz
fails 3 'cut.fq.gz: .*cut short' qc -i cut.fq.gz -o never.fq -j n.json -h n.html
check "nothing of a file that is cut short" absent never.fq
finish
