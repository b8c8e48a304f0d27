#!/usr/bin/env bash
# `biogpu qc-merge`: reports of parts put together are those of one run, digit by digit, and the
# parts' reads are its reads.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# 7,300 pairs from a genome, with adapters where the fragment is short, duplicates, poly-G tails, low
# quality and a sequence that comes over and over.
python3 - "$source_dir/data/lambda.fa" <<'PYTHON'
import random, sys
rng = random.Random(11)
genome = "".join(line.strip() for line in open(sys.argv[1]) if line[0] != ">")
other = {"A": "T", "C": "G", "G": "C", "T": "A"}
adapters = ("AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT")
common = genome[1000:1120]
pairs = []
for i in range(7300):
    if pairs and rng.random() < 0.1:
        pairs.append(rng.choice(pairs))
        continue
    size = rng.randint(40, 300)
    at = rng.randrange(len(genome) - size)
    text = common if rng.random() < 0.05 else genome[at:at + size]
    back = "".join(other[c] for c in reversed(text))
    reads = [(text + adapters[0] + "G" * 100)[:100], (back + adapters[1] + "G" * 100)[:100]]
    reads = ["".join(rng.choice("ACGTN") if rng.random() < 0.01 else c for c in r) for r in reads]
    pairs.append(reads)
names = [open(f"r{m}.fq", "w") for m in (1, 2)]
both = open("both.fq", "w")
for i, reads in enumerate(pairs):
    for m in (0, 1):
        low = rng.random() < 0.1
        quality = "".join(chr(33 + (rng.randint(2, 14) if low else rng.randint(20, 40))) for _ in reads[m])
        for file in (names[m], both):
            file.write(f"@NB501:1:FC:1:{i}:1:1 {m + 1}:N:0:ACGT\n{reads[m]}\n+\n{quality}\n")
PYTHON

# merged NAME OPTIONS...: one run, and runs of 1, 2, 3 and 7 parts in folders of their own, whose
# command lines are then the same but for what makes them parts.
merged() {
  local name=$1 n i parts
  shift
  mkdir -p whole
  (cd whole && "$biogpu" qc --quiet --device cpu "$@") || check "$name" false
  for n in 1 2 3 7; do
    parts=()
    for i in $(seq "$n"); do
      mkdir -p "$i" joined
      (cd "$i" && "$biogpu" qc --quiet --device cpu "$@" --shard "$i/$n" --part p.part) ||
        check "$name, part $i of $n" false
      parts=("$i/p.part" ${parts[@]+"${parts[@]}"})
    done
    works qc-merge "${parts[@]}" -j joined/q.json -h joined/q.html
    check "$name: the JSON of $n parts" same_files whole/q.json joined/q.json
    check "$name: the HTML of $n parts" same_files whole/q.html joined/q.html
    for file in whole/*.fq whole/*.fq.gz; do
      [ -e "$file" ] || continue
      # shellcheck disable=SC2046
      cat $(seq -f "%g/${file##*/}" "$n") >"joined/${file##*/}"
      check "$name: $file of $n parts" same_files "$file" "joined/${file##*/}"
    done
    cp "1/p.part" one.part
  done
  rm -rf whole joined [1-7]
}

merged "single reads" -i ../r1.fq -o o1.fq -j q.json -h q.html -p -P 7
merged "single reads, packed" -i ../r1.fq -o o1.fq.gz -j q.json -h q.html -x -y -w 1
merged "pairs" -i ../r1.fq -I ../r2.fq -o o1.fq.gz -O o2.fq.gz -j q.json -h q.html -p -c -w 2
merged "pairs in one file" -i ../both.fq --interleaved_in -o o1.fq -O o2.fq -j q.json -h q.html -U --umi_loc per_read --umi_len 4
merged "pairs, merged" -i ../r1.fq -I ../r2.fq -m --merged_out m.fq --failed_out f.fq -j q.json -h q.html -p -P 3
merged "the old profile" -i ../r1.fq -I ../r2.fq -o o1.fq -O o2.fq --profile fastp-0.23 --detect_adapter_for_pe -p --dup_calc_accuracy 3 -j q.json -h q.html
merged "the first reads" -i ../r1.fq -I ../r2.fq -o o1.fq -O o2.fq --reads_to_process 2500 -j q.json -h q.html

# Parts that do not go together.
for i in 1 2; do
  works qc --quiet -i r1.fq -o o.fq -j q.json -h q.html --shard "$i/2" --part "$i.part"
done
works qc --quiet -i r1.fq -o o.fq -j q.json -h q.html -q 20 --shard 2/2 --part other.part
fails 3 "expected every part once" qc-merge 1.part -j x.json -h x.html
fails 3 "expected every part once" qc-merge 1.part 1.part -j x.json -h x.html
head -n 4000 r1.fq >fewer.fq
fails 3 "has more; are the files of one run" qc -i fewer.fq -I r2.fq -o o.fq -O p.fq -j x.json -h x.html --shard 1/2
fails 3 "was not made by the command" qc-merge 1.part other.part -j x.json -h x.html
fails 3 "is no part" qc-merge r1.fq -j x.json -h x.html
head -c 20000 1.part >short.part
fails 3 "short.part: malformed at byte 20000; the file may be damaged or cut short" qc-merge short.part 2.part -j x.json -h x.html
# Nested so deep that a parser that calls itself would run out of stack.
for open_ in a16161 81 9f c1; do
  python3 -c "import sys; sys.stdout.buffer.write(b'\xa1\x61a' + bytes.fromhex('$open_') * 3000000)" >deep.part
  fails 3 "deep.part: arrays or objects are nested more than 64 deep" qc-merge deep.part -j x.json -h x.html
done
python3 -c "import sys; sys.stdout.buffer.write(b'\xa1\x6ebiogpu_qc_part\xfb\x7f' + b'\xef' * 7)" >other.part
fails 3 "other.part: is of another version" qc-merge other.part -j x.json -h x.html
check "no report" absent x.json
fails 2 "PART and --json name the same file" qc-merge 1.part 2.part -j ./2.part -h u.html
fails 2 "--json and --html name the same file" qc-merge 1.part 2.part -j u -h ./u

finish
