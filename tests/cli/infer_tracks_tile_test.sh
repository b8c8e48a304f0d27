#!/usr/bin/env bash
# `biogpu infer tracks --tile`: regions of any length, overlaps, shards, resuming, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Windows of 1,024 bases, of which bases 384 to 639 are predicted in 16 bins.
model=$source_dir/tests/data/models/enformer_tiny
one_track=(infer tracks -q --device cpu --model "$model" --head human --tracks 2)
tracks() { run "${one_track[@]}" --genome genome.fa "$@"; }
values() { grep -v "^track" "$1"; }

python3 - <<'PY' || exit 1
import random
rng = random.Random(5)
with open("genome.fa", "w") as out:
    for name, length in (("chr1", 2790), ("chr2", 5000), ("chr10", 100)):
        bases = "".join(rng.choices("ACGT", k=length))
        if name == "chr2":
            bases = bases[:1500] + "N" * 2500 + bases[4000:]
        out.write(f">{name}\n{bases}\n")
with open("centres.bed", "w") as out:
    for i in range(11):
        out.write(f"chr1\t{256 * i + 128}\t{256 * i + 129}\n")
PY

# Without an overlap: the windows around the centres of tiles.
tracks --tile --region chr1 -o tiled.bedgraph
check "a chromosome" rc_is 0
tracks --regions centres.bed -o windows.bedgraph
check "is covered by windows" same_files tiled.bedgraph windows.bedgraph
check "to its last base" test "$(tail -1 tiled.bedgraph | cut -f 1-3)" = "$(printf 'chr1\t2784\t2790')"
check "with each base once" test "$(values tiled.bedgraph | awk '{ n += $3 - $2 } END { print n }')" = 2790
tracks --tile --overlap 0 --batch 2 -t 2 --region chr1 -o other.bedgraph
check "the same in batches" same_files other.bedgraph tiled.bedgraph
printf 'chr1\t0\t2790\n' >whole.bed
tracks --tile --regions whole.bed -o other.bedgraph
check "and of a BED file" same_files other.bedgraph tiled.bedgraph

# Part of a chromosome has the numbers of the whole: the bins that it touches.
tracks --tile --region chr1:301-1090 -o part.bedgraph
check "part of a chromosome" cmp <(values part.bedgraph) <(values tiled.bedgraph | awk '$3 > 300 && $2 < 1090')
tracks --tile --region chr1:301-301 -o part.bedgraph
check "one base" cmp <(values part.bedgraph) <(values tiled.bedgraph | awk '$3 > 300 && $2 < 301')
tracks --tile --region chr1:1-300 --region chr1:301-600 -o no.bedgraph
check "regions that share a bin" err_has "its bins overlap those of .*chr1:257-300 at chr1:"
check "and no file" absent no.bedgraph
tracks --tile --region chr1:1-304 --region chr1:305-600 -o part.bedgraph
check "regions of whole bins" cmp <(values part.bedgraph) <(values tiled.bedgraph | awk '$2 < 600')

# With an overlap of 50 bases, rounded up to four bins: each window gives its middle 192 bases.
tracks --tile --overlap 50 --region chr1 -o overlap.bedgraph
for i in $(seq 0 14); do
  centre=$((192 * i + 96))
  printf 'chr1\t%d\t%d\n' $centre $((centre + 1)) >one.bed
  tracks --regions one.bed -o one.bedgraph
  values one.bedgraph | awk -v begin=$((centre - 96)) '$2 >= begin && $2 < begin + 192'
done >expected
check "windows give their middle" cmp <(values overlap.bedgraph) expected
tracks --tile --overlap 64 --region chr1 -o other.bedgraph
check "the same as 64" same_files other.bedgraph overlap.bedgraph

# Several chromosomes; a window without a known letter is left out.
tracks --tile --region chr2 --region chr10 -o two.bedgraph
check "a chromosome shorter than a tile" test "$(values two.bedgraph | awk '$1 == "chr10" { n += $3 - $2 } END { print n }')" = 100
check "tiles of N are left out" test "$(values two.bedgraph | awk '$1 == "chr2" && $2 >= 2048 && $3 <= 3328' | wc -l)" = 0
check "those next to letters are not" test "$(values two.bedgraph | awk '$1 == "chr2" && $2 < 2048' | wc -l)" = 128

# Parts are of tiles, also within a chromosome; one after the other they are the whole.
for i in 1 2 3; do tracks --tile --region chr1 --region chr2 --shard $i/3 -o part$i.bedgraph; done
tracks --tile --region chr1 --region chr2 -o whole.bedgraph
check "shards" cmp <(values whole.bedgraph) <(for i in 1 2 3; do values part$i.bedgraph; done)
check "each has some" test "$(values part2.bedgraph | wc -l)" -gt 50

# A run that was cut short goes on, with the places of what it had.
long=(--batch 1 -t 1 --tile --overlap 224 --region chr1 --region chr2 --resume -o resumed.bedgraph)
for _ in 1 2 3 4 5; do
  "$biogpu" "${one_track[@]}" --genome genome.fa "${long[@]}" &
  pid=$!
  for _ in $(seq 1000); do
    [ "$(stat -c %s resumed.bedgraph.partial 2>/dev/null || echo 0)" -gt 2000 ] && break
    sleep 0.005
  done
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  [ ! -e resumed.bedgraph.partial ] || break
  rm -f resumed.bedgraph
done
check "was killed before its end" exists resumed.bedgraph.partial
tracks "${long[@]}"
check "goes on" rc_is 0
tracks --tile --overlap 224 --region chr1 --region chr2 -o whole.bedgraph
check "to the same file" same_files resumed.bedgraph whole.bedgraph
check "nothing is left" absent resumed.bedgraph.partial

# A file of each track.
run infer tracks -q --device cpu --model "$model" --genome genome.fa --head human --tracks 1-3 --tile --region chr1 -o 'all.{track}.bedgraph'
check "several tracks" rc_is 0
check "have a file each" test "$(echo all.*)" = "all.1.bedgraph all.2.bedgraph all.3.bedgraph"
check "with the numbers of one alone" same_files all.2.bedgraph tiled.bedgraph
cp -r "$model" named
printf 'index\tidentifier\tdescription\n0\tA b/c\tx\n1\tA:b c\tx\n2\tA_b_c-2\tx\n3\tD\tx\n4\tE\tx\n5\tF\tx\n6\tG\tx\n' >named/targets_human.txt
run infer tracks -q --device cpu --model named --genome genome.fa --head human --tracks 0-3 --region chr1:600-700 -o 'n.{track}.bedgraph'
check "names become names of files" test "$(echo n.*)" = "n.A_b_c-2-2.bedgraph n.A_b_c-2.bedgraph n.A_b_c.bedgraph n.D.bedgraph"
run infer tracks -q --device cpu --model "$model" --genome genome.fa --tile --region chr1:600-700 -o 'h.{track}.bedgraph'
check "of several heads" test -s h.human_2.bedgraph
check "the other head's too" test -s h.mouse_0.bedgraph
check "with the same numbers" cmp <(values h.human_2.bedgraph) <(values tiled.bedgraph | awk '$3 > 599 && $2 < 700')
run infer tracks -q --device cpu --model "$model" --genome genome.fa --head human --tracks 1-3 --tile --region chr1 -o 'no.{track}.npz'
check "not of arrays" err_has "{track} is for files of signals"

# What does not go together.
tracks --tile --region chr1 -o no.tsv
check "arrays of tiles" err_has "tile writes signals: expected -o FILE.bw or .bedgraph"
tracks --overlap 32 --region chr1:1-10 -o no.bedgraph
check "an overlap of no tiles" err_has "overlap is of the windows of --tile, which is not given"
tracks --tile --overlap 256 --region chr1 -o no.bedgraph
check "an overlap of all that is predicted" err_has "256 bases of the 256 that a window predicts leave no bin of 16"
tracks --tile --overlap -1 --region chr1 -o no.bedgraph
check "a negative overlap" rc_is 2
run "${one_track[@]}" --tile "$model/windows.fa" -o no.bedgraph
check "tiles of files" rc_is 2
tracks --tile --region chr3 -o no.bedgraph
check "no such chromosome" rc_is 2
check "and no file" absent no.bedgraph
check "of any of them" absent no.tsv

finish
