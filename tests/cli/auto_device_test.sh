#!/usr/bin/env bash
# --device auto: the rates of the machine decide, and runs keep what they measure for later ones.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 5 300 90 ACGT q | awk '/^>/ { print "@" substr($0, 2); next }
  { print; print "+"; gsub(/./, "I"); print }' >reads.fq
write_random 6 3 2000 ACGT t >genome.fa
write_random 7 40 90 ACGT s >some.fa

works devices --rates
check "the file" out_has "^file $XDG_CACHE_HOME/biogpu/rates-[0-9a-f]*[.]txt\$"
check "a rate" out_has "^align_score[.]cpu_read [0-9]"
check "a rate of another command" out_has "^qc_gzip[.]host [0-9]"
file=$(sed -n 's/^file //p' out.txt)
sed 1d out.txt >defaults.txt
check "asking for rates keeps none" absent "$file"
works bwt index -q genome.fa -p g

if [ "$backend" = none ]; then
  works kmer count -m 9 -o k.jf reads.fq -v
  check "a build without a GPU predicts nothing" bash -c '! grep -q predicted err.txt'
  check "and keeps nothing" absent "$XDG_CACHE_HOME"
  finish
fi

# rates EXPRESSION: the file of rates is the defaults, changed by sed.
rates() {
  mkdir -p "$(dirname "$file")"
  sed "$1" defaults.txt >"$file"
}
# An input of infer trunk for the tiny Pairformer.
write_trunk() {
  python3 - "$1" <<'PY'
import struct, sys, zipfile
def array(*shape):
    n = 1
    for extent in shape: n *= extent
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{n}f", *([0.5] * n))
with zipfile.ZipFile(sys.argv[1], "w") as file:
    file.writestr("s.npy", array(5, 30))
    file.writestr("z.npy", array(5, 5, 20))
PY
}
commands=("align --mode sw --pairs some.fa some.fa -o rows.tsv" "align --mode sw some.fa genome.fa --output cigar -o rows.tsv"
  "align --mode sw --top 2 some.fa genome.fa -o rows.tsv" "kmer count -m 9 -o k.jf reads.fq" "bwt index genome.fa -p own"
  "bwt index --format bwa genome.fa -p own" "bwt transform some.fa -o some.bwt" "bwt count -x g reads.fq -o found.txt"
  "bwt locate -x g reads.fq -o found.txt")
used='import json; print(json.load(open("run.json"))["device"]["used"])'
for words in "${commands[@]}"; do
  read -ra split <<<"$words"
  # Each thing that a GPU can be slow by, then a CPU that is slow; the output is the same.
  for slow in 's/^start_s .*/start_s 1e15/' 's/\(gpu_read\|host\|transfer\) .*/\1 1e-6/'; do
    rates "s/[.]cpu .*/.cpu 100/; $slow"
    works "${split[@]}" -v --json run.json
    check "the CPU with $slow" [ "$(python3 -c "$used")" = cpu ]
    check "the prediction is told" err_has 'auto: [0-9.]* s predicted on the CPU (limit: .*), [0-9.]* s on a GPU (limit: '
    check "the reason" grep -q 'too small to pay for a GPU\|no slower than a GPU: [a-z ]* decides' run.json
  done
  cp "${split[-1]}" expected.txt 2>/dev/null || : >expected.txt
  rates 's/[.]cpu .*/.cpu 1/; s/^start_s .*/start_s 0.0001/'
  works "${split[@]}" -v --json run.json
  check "a GPU where the CPU is slow" [ "$(python3 -c "$used" | cut -d: -f1)" = gpu ]
  check "the reason" grep -q "found and worth its start" run.json
  [ ! -s expected.txt ] || check "the same output" same_files "${split[-1]}" expected.txt
  works "${split[@]}" -q
  check "no word of it without -v" bash -c '! grep -q predicted err.txt'
done
rates 's/[.]cpu .*/.cpu 1/; s/^start_s .*/start_s 0.0001/'
works qc -V -w 2 -i reads.fq -o clean.fq -j q.json -h q.html
check "qc opens a GPU" err_has '\] emulated.*(found and worth its start)'
rates 's/[.]cpu .*/.cpu 1/; s/gpu_read .*/gpu_read 1/'
works qc -V -w 2 -i reads.fq -o clean.fq -j q.json -h q.html
check "qc leaves it" bash -c '! grep -q "worth its start" err.txt && grep -q "limit: reading" err.txt'

# Models predict from rates that no run changes: another device gives other last digits. What measures a device takes a GPU.
models=$source_dir/tests/data/models
rates 's/[.]cpu .*/.cpu 1/; s/^start_s .*/start_s 0.0001/'
for words in "recognize --model $models/molscribe_tiny --chemistry plain $models/molscribe_tiny/picture0.png -o some.tsv" \
  "affinity --model $models/dualbind --protein $models/dualbind/protein.pdb $models/dualbind/ligands.sdf -o some.tsv" \
  "trunk --model $models/pairformer_tiny trunk.npz -o some.npz" "md --model $models/tensornet/o3 --steps 1 water.xyz -o some.extxyz"; do
  printf '3\ncharge=0\nO 0 0 0\nH 0.97 0 0\nH -0.2 0.95 0\n' >water.xyz
  write_trunk trunk.npz
  read -ra split <<<"$words"
  run infer "${split[@]}" -v --json run.json
  [ "$rc" -ne 2 ] || ! err_has "RDKit\|rdkit" || continue  # a build without it
  check "infer ${split[0]}" rc_is 0
  check "the CPU whatever was measured" [ "$(python3 -c "$used")" = cpu ]
  check "the prediction is told" err_has 'auto: [0-9.]* s predicted on the CPU'
done
works lab run --quick --shapes 4x16 layer-norm --json run.json
check "lab run takes a GPU" grep -q '"device": "emulated' run.json

# A file that cannot be used is none.
for damage in 's/^start_s .*/start_s -1/' 's/^key .*/key another machine/' '1s/1/2/'; do
  rates "s/[.]cpu .*/.cpu 1/; s/^start_s .*/start_s 0.0001/; $damage"
  works align --mode sw --pairs some.fa some.fa -o rows.tsv -v
  check "the defaults with $damage" err_has 'too small to pay for a GPU'
done

# Runs of some length leave what they measured, whichever device they used.
rm -rf "$XDG_CACHE_HOME"
works align --mode sw --device gpu -t 1 some.fa genome.fa -o rows.tsv -q
works devices --rates
sed 1d out.txt | diff - defaults.txt >changed.txt
check "rates are kept" exists "$file"
check "rates of what was run" grep -q "^> \(align_score\|start_s\)" changed.txt
check "no other rates" bash -c '! grep -q "^> \(kmer\|bwt\|qc\)" changed.txt'
XDG_CACHE_HOME=/dev/null/none works align --mode sw --device gpu -t 1 some.fa genome.fa -o rows.tsv
check "a folder that cannot be made is no matter" bash -c '! grep -qi "cache\|warning" err.txt'
finish
