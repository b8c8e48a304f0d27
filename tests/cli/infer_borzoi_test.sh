#!/usr/bin/env bash
# `biogpu infer` with Borzoi and Flashzoi: tracks, embeddings, variants, mutagenesis, what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

same=$source_dir/tests/support/same_tensors.py
borzoi=$source_dir/tests/data/models/borzoi_tiny
flashzoi=$source_dir/tests/data/models/flashzoi_tiny
tracks() { run infer tracks -q --device cpu "$@"; }

# Both windows, as borzoi-pytorch computes them in double precision.
tracks --model "$borzoi" "$borzoi/windows.fa" -o all.safetensors
check "both heads" rc_is 0
check "equal to borzoi-pytorch" python3 "$same" all.safetensors "$borzoi/expected.safetensors" 1e-4 \
  one/human=one/heads/human one/mouse=one/heads/mouse two/human=two/heads/human two/mouse=two/heads/mouse
tracks --model "$flashzoi" "$flashzoi/windows.fa" -o flash.safetensors
check "Flashzoi" rc_is 0
check "its one head under the window's name" python3 "$same" flash.safetensors "$flashzoi/expected.safetensors" 1e-4 \
  one=one/heads/human two=two/heads/human
works infer info "$borzoi"
check "info" out_has "^bins	60 of 32 bases, from base 1088"
works infer info "$flashzoi"
check "the architecture" out_has "^architecture	Flashzoi"
works infer tracks --device cpu --model "$flashzoi" --json summary.json "$flashzoi/windows.fa" -o flash.npz
check "the summary" python3 -c "
import json
model = json.load(open('summary.json'))['result']['model']
assert model['architecture'] == 'Flashzoi' and model['bin_size'] == 32 and model['bins'] == 40, model"

# The same numbers for any batch and any number of threads.
for model in "$borzoi" "$flashzoi"; do
  tracks --model "$model" --head human "$model/windows.fa" -o human.tsv
  for options in "--batch 1 -t 2" "-t 1"; do
    # shellcheck disable=SC2086
    tracks $options --model "$model" --head human "$model/windows.fa" -o other.tsv
    check "the same with $options" same_files other.tsv human.tsv
  done
done

# Regions of a genome, N beyond its ends; one track as a signal over bins of 32 bases.
tracks --model "$borzoi" --head human "$borzoi/windows.fa" -o human.tsv
{ echo ">chr1" && sed -n 2p "$borzoi/windows.fa" | fold -w 60; } >genome.fa
tracks --model "$borzoi" --head human --genome genome.fa --region chr1:2001-2096 -o region.tsv
check "the region in the middle is the window" cmp <(cut -f 3- region.tsv) <(head -60 human.tsv | cut -f 3-)
tracks --model "$borzoi" --head human --tracks 4 --genome genome.fa --region chr1:2001-2096 -o signal.bedgraph
check "bedGraph" rc_is 0
seq 0 59 | awk '{ printf "chr1\t%d\t%d\n", 1088 + 32 * $1, 1120 + 32 * $1 }' >bins
check "bins" cmp <(grep -v "^track" signal.bedgraph | cut -f 1-3) bins
tracks --model "$borzoi" --head human --tracks 6,0 "$borzoi/windows.fa"
check "tracks in the order asked for" cmp <(cut -f 3- out.txt) <(awk -F '\t' '{ print $9 "\t" $3 }' human.tsv)

# Embeddings.
run infer embed -q --device cpu --model "$borzoi" "$borzoi/windows.fa" -o embedding.safetensors
check "embed" rc_is 0
check "equal to borzoi-pytorch" python3 "$same" embedding.safetensors "$borzoi/expected.safetensors" 1e-4 one=one/embedding

# Variants and substitutions: the same bytes with and without reuse, in windows where a part is worth it.
for model in "$borzoi" "$flashzoi"; do
  rm -rf longer && cp -r "$model" longer
  sed -i 's/"sequence_length": 4096/"sequence_length": 8192/' longer/config.json
  { echo ">chr1" && sed -n '2p;4p' "$model/windows.fa" | tr -d '\n' | fold -w 60 && echo; } >genome.fa
  rm -f genome.fa.fai
  python3 - <<'PY'
letters = "".join(line.strip() for line in open("genome.fa") if line[0] != ">").upper()
with open("some.vcf", "w") as vcf:
    vcf.write("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
    for at in (5000, 6000, 6001, 7000):
        ref = letters[at - 1]
        alts = [c for c in "ACGT" if c != ref][:2] + [ref + "ACG"]
        vcf.write(f"chr1\t{at}\tv{at}\t{ref}\t{','.join(alts)}\t.\t.\t.\n")
PY
  variants() { run infer variants -q --device cpu --model longer --genome genome.fa --head human "$@"; }
  variants --scores SAD,REF --bins all,centre some.vcf -o reused.tsv
  check "variants" rc_is 0
  check "a line a score" n_lines_is reused.tsv $((1 + 4 * 3 * 2 * 2 * 7))
  for options in --no-reuse "--batch 3" "-t 1"; do
    # shellcheck disable=SC2086
    variants --scores SAD,REF --bins all,centre $options some.vcf -o other.tsv
    check "the same with $options" same_files reused.tsv other.tsv
  done
  tracks --model longer --head human --genome genome.fa --region chr1:6000-6000 -o region.tsv
  check "REF is the mean of tracks" python3 - <<'PY'
rows = [line.rstrip("\n").split("\t") for line in open("reused.tsv")]
got = {int(r[7]): float(r[8]) for r in rows if r[2] == "v6000" and r[5] == "all" and r[6] == "REF"}
bins = [[float(x) for x in line.split("\t")[2:]] for line in open("region.tsv")]
assert len(got) == 7
for track, value in got.items():
    right = sum(row[track] for row in bins) / len(bins)
    assert abs(value - right) <= 1e-5 * abs(right), (track, value, right)
PY
  mutagenesis() { run infer mutagenesis -q --device cpu --model longer --genome genome.fa --head human "$@"; }
  mutagenesis --region chr1:6000-6009 -o reused.tsv
  check "mutagenesis" n_lines_is reused.tsv $((1 + 10 * 3 * 7))
  mutagenesis --region chr1:6000-6009 --no-reuse -o other.tsv
  check "the same without reuse" same_files reused.tsv other.tsv
done

# Refused.
tracks --model "$borzoi" --gamma positions "$borzoi/windows.fa" -o no.npz
check "gamma is Enformer's" err_has "gamma is for Enformer"
check "a usage error" rc_is 2
tracks --model "$flashzoi" --head mouse "$flashzoi/windows.fa" -o no.npz
check "no such head" err_has "the model has human"
cp -r "$flashzoi" other
sed -i 's/"flashed": true/"flashed": false/' other/config.json
tracks --model other "$flashzoi/windows.fa" -o no.npz
check "another attention" err_has "tensors are missing: .*to_q"
check "bad input" rc_is 3
sed -i 's/"sequence_length": 4096/"sequence_length": 4000/' other/config.json
tracks --model other "$flashzoi/windows.fa" -o no.npz
check "a length" err_has "config.json: sequence_length is 4000, which is"
check "no output" absent no.npz
run infer logits --model "$borzoi" "$borzoi/windows.fa"
check "what it offers" err_has "Borzoi has no 'logits'; it offers tracks, embed, variants, mutagenesis"

finish
