#!/usr/bin/env bash
# `biogpu infer trunk`: arrays of tokens and pairs through a Pairformer and a diffusion transformer, on random weights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

tiny=$source_dir/tests/data/models/pairformer_tiny
pairs=$source_dir/tests/data/models/pairformer_pairs
# npz OUT ARRAYS...: of the stored numbers of the tiny model.
npz() { python3 "$source_dir/tests/support/write_npz.py" "$tiny/expected.safetensors" "$@"; }
# shellcheck disable=SC2317  # called by check
same() { python3 "$source_dir/tests/support/same_tensors.py" "$@"; }
trunk=(infer trunk -q --device cpu --model "$tiny")

# Every mask, as double precision has it; several inputs in a file, deflated, in double precision and in columns.
npz full.npz z=full/z s=full/s
works "${trunk[@]}" full.npz -o full.safetensors
check "no mask" same full.safetensors "$tiny/expected.safetensors" 2e-5 s=full/out/s z=full/out/z
npz all.npz --deflate --type f8 --fortran padded/s=padded/s padded/z=padded/z padded/mask=padded/mask \
  deep/pairs/z=pairs/z deep/pairs/s=pairs/s deep/pairs/pair_mask=pairs/pair_mask
works "${trunk[@]}" all.npz -o all.safetensors
check "masks" same all.safetensors "$tiny/expected.safetensors" 2e-5 padded/s=padded/out/s padded/z=padded/out/z \
  deep/pairs/s=pairs/out/s deep/pairs/z=pairs/out/z
python3 "$source_dir/tests/support/write_npz.py" "$pairs/expected.safetensors" pairs.npz z=full/z
works infer trunk -q --device cpu --model "$pairs" pairs.npz -o pairs.safetensors
check "pairs alone" same pairs.safetensors "$pairs/expected.safetensors" 2e-5 z=full/out/z

# Rows of an alignment in front, with and without masks.
msa=$source_dir/tests/data/models/pairformer_msa
msa_npz() { python3 "$source_dir/tests/support/write_npz.py" "$msa/expected.safetensors" "$@"; }
msa_npz rows.npz a/z=full/z a/s=full/s a/m=full/m b/z=padded/z b/s=padded/s b/m=padded/m b/mask=padded/mask \
  b/msa_mask=padded/msa_mask
works infer trunk -q --device cpu --model "$msa" rows.npz -o rows.safetensors
check "an alignment" same rows.safetensors "$msa/expected.safetensors" 2e-5 a/s=full/out/s a/z=full/out/z b/s=padded/out/s \
  b/z=padded/out/z
works infer info "$msa"
check "its description" out_has "^msa_blocks	2$"
if [ "$backend" = emulated ]; then
  msa_npz padded.npz z=padded/z s=padded/s m=padded/m mask=padded/mask msa_mask=padded/msa_mask
  works infer trunk -q --device gpu --precision fp32 --model "$msa" padded.npz -o rows_gpu.safetensors
  check "an alignment on a GPU" same rows_gpu.safetensors "$msa/expected.safetensors" 5e-5 s=padded/out/s z=padded/out/z
fi
# refused_rows PATTERN ARRAYS...
refused_rows() {
  local pattern=$1
  shift
  msa_npz bad.npz z=full/z s=full/s "$@"
  fails 3 "$pattern" infer trunk -q --device cpu --model "$msa" bad.npz -o never.npz
  check "nothing is left" absent never.npz
}
refused_rows "bad.npz: has no array m"
refused_rows "array 'm': has the shape \[77, 11\]; expected \[S, 11, 11\]" m=full/m:77,11
refused_rows "array 'm': has the shape \[7, 10, 11\]; expected \[S, 11, 11\]" m=full/m:7,10,11
refused_rows "has an array m without rows" m=0x0,11,11
refused_rows "array 'msa_mask': has the shape \[6, 11\]; expected \[7, 11\]" m=full/m msa_mask=1x6,11
refused_rows "array 'msa_mask': has the number 2; a mask has 0 and 1" m=full/m msa_mask=2x7,11

# The tokens of a diffusion transformer, in both forms of its transition.
for name in tiny boltz; do
  diffusion=$source_dir/tests/data/models/diffusion_$name
  diffusion_npz() { python3 "$source_dir/tests/support/write_npz.py" "$diffusion/expected.safetensors" "$@"; }
  diffusion_npz noisy.npz full/a=full/a full/s=full/s full/z=full/z padded/a=padded/a padded/s=padded/s padded/z=padded/z \
    padded/mask=padded/mask
  works infer trunk -q --device cpu --model "$diffusion" noisy.npz -o noisy.safetensors
  check "diffusion $name" same noisy.safetensors "$diffusion/expected.safetensors" 2e-5 full/a=full/out/a padded/a=padded/out/a
  if [ "$backend" = emulated ]; then
    works infer trunk -q --device gpu --precision fp32 --model "$diffusion" noisy.npz -o noisy_gpu.safetensors
    check "diffusion $name on a GPU" same noisy_gpu.safetensors "$diffusion/expected.safetensors" 5e-5 full/a=full/out/a \
      padded/a=padded/out/a
  fi
done
works infer info "$diffusion"
check "its description" out_has "^heads	4 x 5$"
# refused_noisy PATTERN ARRAYS...
refused_noisy() {
  local pattern=$1
  shift
  diffusion_npz bad.npz z=full/z s=full/s "$@"
  fails 3 "$pattern" infer trunk -q --device cpu --model "$diffusion" bad.npz -o never.npz
  check "nothing is left" absent never.npz
}
refused_noisy "bad.npz: has no array a"
refused_noisy "array 'a': has the shape \[12, 20\]; expected \[13, 20\]" a=full/a:12,20
refused_noisy "has an array pair_mask; the model has a mask of tokens alone" a=full/a pair_mask=1x13,13
refused_noisy "has an array m; the model has no MSA module" a=full/a m=0x2,13,4

# What is written is read: a trunk of a trunk's output.
works "${trunk[@]}" full.npz -o once.npz
works "${trunk[@]}" once.npz -o twice.npz
works infer info "$tiny"
check "the description" out_has "^triangle_attention_heads	3 x 6$"

# The names of outputs with several files, with one kind of arrays, as a table and with the index of .npy.
cp full.npz other.NPZ
works "${trunk[@]}" --include s full.npz other.NPZ -o s.npy --json run.json
check "the index" [ "$(cut -f 1 s.npy.index.tsv | tr '\n' ' ')" = "key full/s other/s " ]
check "the summary" grep -q '"inputs": 2' run.json
works "${trunk[@]}" --include s full.npz
check "a table" [ "$(wc -l <out.txt)" -eq 11 ]
fails 2 "include a: the model writes s, z" "${trunk[@]}" --include a full.npz -o never.npz
check "nothing is left" absent never.npz
fails 2 "include s: the model writes z" infer trunk -q --device cpu --model "$pairs" --include z,s pairs.npz -o never.npz
check "nothing is left" absent never.npz
fails 2 "include s: the model writes a" infer trunk -q --device cpu --model "$diffusion" --include s noisy.npz -o never.npz
check "nothing is left" absent never.npz
works infer trunk -q --device cpu --model "$diffusion" --include a noisy.npz -o a.safetensors
check "named and all" same_files a.safetensors noisy.safetensors
fails 2 "one .npy holds rows of one width" "${trunk[@]}" full.npz -o never.npy
check "nothing is left" absent never.npy

# More files than may be open at once, each of whose names is its own.
mkdir many
for i in $(seq 140); do ln full.npz "many/part$i.npz"; done
cp all.npz many/all.npz
# shellcheck disable=SC2317  # called by check
with_few_open() (ulimit -n 64 && exec "$biogpu" "$@")
check "many files" with_few_open "${trunk[@]}" --include s many/all.npz many/part*.npz -o many.npz
check "all are there" [ "$(python3 -c 'import zipfile; print(len(zipfile.ZipFile("many.npz").namelist()))')" -eq 142 ]
works "${trunk[@]}" --include s many/part77.npz many/all.npz many/part3.npz -o three.safetensors
check "the file that comes again" same three.safetensors "$tiny/expected.safetensors" 2e-5 part77/s=full/out/s \
  all/padded/s=padded/out/s all/deep/pairs/s=pairs/out/s part3/s=full/out/s

# Devices, batches, threads, shards and a run that goes on give the same bytes.
for options in "-t 1" "--batch 1000" "--resume"; do
  # shellcheck disable=SC2086
  works "${trunk[@]}" $options all.npz -o again.safetensors
  check "$options gives the same" same_files all.safetensors again.safetensors
done
works "${trunk[@]}" --shard 2/2 all.npz -o half.npz
works "${trunk[@]}" --shard 1/2 --include z all.npz -o half.npz
if [ "$backend" = emulated ]; then
  works infer trunk -q --device gpu --precision fp32 --model "$tiny" full.npz -o gpu.safetensors
  check "a GPU" same gpu.safetensors "$tiny/expected.safetensors" 5e-5 s=full/out/s z=full/out/z
fi

# What is wrong is told by file and array, and nothing is written.
refused() {
  local pattern=$1
  shift
  npz bad.npz "$@"
  fails 3 "$pattern" "${trunk[@]}" bad.npz -o never.npz
  check "nothing is left" absent never.npz
}
refused "bad.npz: array 'q': is unknown; expected s, z, a, mask, pair_mask, m, msa_mask" z=full/z s=full/s q=full/s
refused "bad.npz: has no array z" s=full/s
refused "bad.npz: has no array s" z=full/z
refused "bad.npz: input 'b': has no array s" a/z=full/z a/s=full/s b/z=full/z
refused "array 'z': has the shape \[11, 20\]; expected \[N, N, 20\]" z=full/z:11,20 s=full/s
refused "array 'z': has the shape \[10, 11, 20\]; expected" z=full/z:10,11,20 s=full/s
refused "array 's': has the shape \[10, 30\]; expected \[11, 30\]" z=full/z s=full/s:10,30
refused "array 'mask': has the shape \[10\]; expected \[11\]" z=full/z s=full/s mask=1x10
refused "array 'pair_mask': has the number 0.5; a mask has 0 and 1" z=full/z s=full/s pair_mask=0.5x11,11
refused "array 'z': a number is not finite" z=nanx2,2,20 s=0x2,30
refused "bad.npz: has no tokens" z=0x0,0,20 s=0x0,30
refused "bad.npz: has an array a; the model is no diffusion transformer" z=full/z s=full/s a=0x11,3
refused "bad.npz: has an array m; the model has no MSA module" z=full/z s=full/s m=0x2,11,64
npz mixed.npz a/z=full/z a/s=full/s b/z=full/z
fails 3 "mixed.npz: skipped: 1 input that is bad" "${trunk[@]}" --skip-bad mixed.npz -o skipped.safetensors
run infer trunk --device cpu --model "$tiny" --skip-bad mixed.npz -o skipped.safetensors
check "which one" err_has "warning: skipped: mixed.npz: .*b"
check "the good one" same skipped.safetensors "$tiny/expected.safetensors" 2e-5 a/s=full/out/s
python3 "$source_dir/tests/support/write_npz.py" "$pairs/expected.safetensors" bad.npz z=full/z s=0x11,30
fails 3 "has an array s; the model computes pairs alone" infer trunk --model "$pairs" bad.npz -o never.npz
printf 'PK\3\4cut' >cut.npz
fails 3 "cut.npz: the zip archive is cut short" "${trunk[@]}" cut.npz -o never.npz
: >empty.npz
fails 3 "empty.npz: is empty" "${trunk[@]}" empty.npz -o never.npz
python3 - <<'PYTHON'
import zipfile
zipfile.ZipFile("none.npz", "w").close()
PYTHON
works infer trunk --device cpu --model "$tiny" none.npz -o none_out.npz
check "a warning" err_has "the input has no inputs"
fails 2 "ESM-2 has no 'trunk'" infer trunk --model "$source_dir/tests/data/models/esm2_head16" full.npz -o never.npz
fails 2 "Pairformer has no 'embed'; it offers trunk" infer embed --model "$tiny" "$source_dir/data/proteins.fa" -o never.npy
fails 2 "FILE" infer trunk --model "$tiny" -o never.npz
fails 2 "standard input" "${trunk[@]}" - -o never.npz
check "nothing is left" absent never.npz
finish
