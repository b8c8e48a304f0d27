#!/usr/bin/env bash
# `biogpu infer`: models, sequences, formats and errors, from the command line.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$source_dir/tests/data/models
esm=$data/esm2_head16
bert=$data/protbert_head16
proteins=$data/proteins.fa

# embed: every format has the same numbers in the same order.
for suffix in npy npz safetensors h5 tsv; do
  works infer embed -q --device cpu --model "$esm" "$proteins" -o "out.$suffix"
  check "a file of .$suffix" exists "out.$suffix"
done
check "a line a record" n_lines_is out.tsv 5
check "an index beside .npy" same_files out.npy.index.tsv - <<<'key	first_row	rows
one	0	1
seven	1	1
masked	2	1
letters	3	1
longer	4	1'
works infer embed -q --device cpu --model "$esm" --include residues,cls --layers 0,-1 "$proteins"
check "keys of several arrays" out_has '^seven/residues/2	7	'
check "keys of several arrays" out_has '^seven/cls/0	'
works infer embed -q --device cpu --model "$bert" "$proteins"
check "ProtBERT" n_lines_is out.txt 5

# The same bytes for any way to read, any batch and any number of threads.
works infer embed -q --device cpu --model "$esm" --include residues "$proteins" -o all.npz
gzip -c "$proteins" >p.fa.gz
works infer embed -q --device cpu --model "$esm" --include residues --batch 10 -t 1 p.fa.gz -o some.npz
check "small batches of compressed input" same_files all.npz some.npz
works infer embed -q --device cpu --model "$esm" --include residues -o some.npz <"$proteins"
check "standard input" same_files all.npz some.npz
sed 's/\(.*\)/\L\1/; s/^>.*/&/' "$proteins" >lower.fa
works infer embed -q --device cpu --model "$esm" --include residues lower.fa -o some.npz
check "lower case" same_files all.npz some.npz
printf '>d\nMK\n>d\nMKV\n' >double.fa
works infer embed -q --device cpu --model "$esm" double.fa
check "a name that comes twice" out_has '^d#2	'
works infer embed -q --device cpu --model "$esm" --include mean,cls double.fa
check "a name that comes twice, with kinds" out_has '^d#2/mean/2	'
printf '>d\nMK\n>e\nM\n' >third.fa
works infer embed -q --device cpu --model "$esm" --include mean,cls double.fa third.fa -o whole.npy
for i in 1 2; do
  works infer embed -q --device cpu --model "$esm" --include mean,cls --shard "$i/2" double.fa third.fa -o "$i.npy"
done
works gather 1.npy 2.npy -o joined.npy
check "parts with the same names" same_files joined.npy.index.tsv whole.npy.index.tsv
: >empty.fa
works infer embed -q --device cpu --model "$esm" empty.fa -o empty.npz
printf '>none\n\n>nothing\n\n>a\nMKT\n' >nones.fa
for batch in 2 2000; do
  works infer embed -q --device cpu --model "$esm" --include residues --batch "$batch" nones.fa -o "nones$batch.npz"
  check "checksums of an archive with empty arrays" python3 -c '
import sys, zipfile
assert zipfile.ZipFile(sys.argv[1]).testzip() is None' "nones$batch.npz"
done
check "empty arrays in any batch" same_files nones2.npz nones2000.npz

# Interrupted runs go on.
printf '>bad\nMK1\n' >bad.fa
run infer embed -q --device cpu --model "$esm" "$proteins" bad.fa -o r.npz --resume --batch 20
check "a run that ended in the middle" rc_is 3
check "what was done is kept" exists r.npz.partial
check "and not under the final name" absent r.npz
printf '>good\nMKV\n' >bad.fa
touch -d '2001-01-01' bad.fa
run infer embed -q --device cpu --model "$esm" "$proteins" bad.fa -o r.npz --resume --batch 20
check "other input is refused" err_has 'other inputs'
rm r.npz.partial
printf '>bad\nMK1\n' >bad.fa
cp -r "$esm" model && chmod -R u+w model
printf 'M1A\n' >v.tsv
printf '>w\nMKT\n' >w.fa
# interrupted WHAT CHANGE: what a run left is refused once CHANGE was made.
interrupted() {
  run infer score -q --device cpu --model model --variants v.tsv w.fa bad.fa -o s.tsv --resume --batch 20
  check "$1: a run that ended in the middle" exists s.tsv.partial
  eval "$2"
  run infer score -q --device cpu --model model --variants v.tsv w.fa bad.fa -o s.tsv --resume --batch 20
  check "$1 is refused" err_has 'other inputs'
  rm s.tsv.partial
}
interrupted "another table of variants" 'printf "M1C\n" >v.tsv'
interrupted "a model with other weights" 'cp model/model.safetensors m && cat m >model/model.safetensors'
interrupted "a model with another vocabulary" 'cp model/vocab.txt m && cat m >model/vocab.txt'
fails 2 "standard input" infer embed --device cpu --model "$esm" --resume -o r.npz
# The log is a file of its own, of one run at a time, and its counts are held against the inputs.
echo kept >notes.txt
ln -s notes.txt r.npz.partial
fails 1 'r.npz.partial: is a symbolic link' infer embed --device cpu --model "$esm" "$proteins" -o r.npz --resume
check "the link's file is what it was" same_files notes.txt - <<<kept
rm r.npz.partial
printf '>unknown\nMKJ\n' >end.fa
run infer embed -q --device cpu --model "$esm" "$proteins" end.fa -o r.npz --resume --batch 20
cp r.npz.partial log
python3 - log r.npz.partial <<'END'
import struct
import sys
import zlib

log = open(sys.argv[1], "rb").read()
head = log[: 16 + struct.unpack_from("<Q", log, 8)[0]]
batch = struct.pack("<7Q", 1 << 40, 9, 0, 0, 0, 0, 0)
open(sys.argv[2], "wb").write(head + struct.pack("<Q", len(batch)) + batch + struct.pack("<I", zlib.crc32(batch)))
END
fails 3 'r.npz.partial: holds 1099511627770 records more than the inputs' infer embed --device cpu --model "$esm" \
  "$proteins" end.fa -o r.npz --resume --batch 20
check "no output of a log that is not ours" absent r.npz
cp log r.npz.partial
if command -v flock >/dev/null; then
  last_command="biogpu infer embed beside another run"
  flock r.npz.partial "$biogpu" infer embed --device cpu --model "$esm" "$proteins" end.fa -o r.npz --resume --batch 20 \
    >out.txt 2>err.txt
  rc=$?
  check "a second run ends" rc_is 1
  check "and says why" err_has 'r.npz.partial: another run is writing it'
  check "the log is what it was" same_files log r.npz.partial
fi
rm r.npz.partial
works infer embed -q --device cpu --model "$esm" --include residues "$proteins" -o r.npz --resume
check "the same bytes" same_files all.npz r.npz
check "nothing is left behind" absent r.npz.partial

# Tables.
works infer fill-mask -q --device cpu --model "$esm" --top 2 "$proteins"
check "two words of three masks" n_lines_is out.txt 7
check "positions count from 1" out_has '^masked	4	1	'
mkdir rare && cp "$esm/config.json" rare
python3 "$source_dir/tests/support/set_tensor.py" "$esm/model.safetensors" rare/model.safetensors lm_head.bias -90 7
works infer fill-mask -q --device cpu --model rare --top 33 "$proteins"
# shellcheck disable=SC2016  # awk expands its own
check "six digits of every probability" awk -F'\t' 'NR > 1 {
  split($5, parts, "e")
  digits = parts[1]
  gsub(/[^0-9]/, "", digits)
  sub(/^0+/, "", digits)
  if ($5 + 0 <= 0 || length(digits) > 6) exit 1
  n_rare += $5 < 1e-30
  n_full += length(digits) == 6
} END { exit !(n_rare == 3 && n_full > 50) }' out.txt
works infer score -q --device cpu --model "$esm" "$proteins"
check "likelihoods" out_has '^seven	7	-[0-9.]*	[0-9.]*$'
printf '>p\nMKTAY\n' >p.fa
works infer score -q --device cpu --model "$esm" --all-single p.fa
check "all variants" n_lines_is out.txt 96
printf 'mutant\nM1A\nM1A:K2D\nWT\n' >v.tsv
works infer score -q --device cpu --model "$esm" --variants v.tsv --method wt-marginal p.fa
check "the wild type's score" out_has '^p	WT	0.000000$'
printf 'name,mutant\np,M11A\nq,M11A\n' >v.csv
run infer score -q --device cpu --model "$esm" --variants v.csv --first-residue 11 p.fa
check "some names are enough" rc_is 0
check "the others are told" err_has "v.csv: line 3: no sequence is named 'q'; variants of 1 of 2 names"
check "variants of one sequence" n_lines_is out.txt 2
# The same bytes in any batch, for records that share passes, have no residues or the same name.
printf '>none\n\n>p\nMKTAY\n>p\nM<mask>TAYIAKQR\n>masks\n<mask><mask>\n>q\nMW\n>end\n\n' >shared.fa
printf 'name\tmutant\np\tM1A\nq\tWT\nq\tW2A:M1C\nmasks\tWT\n' >shared.tsv
for arguments in fill-mask score "score --all-single" "score --all-single --method wt-marginal" \
  "score --variants shared.tsv" "score --variants shared.tsv --method wt-marginal"; do
  for batch in 1 20 2000; do
    # shellcheck disable=SC2086
    works infer $arguments -q --device cpu --model "$esm" --batch "$batch" -t 1 shared.fa -o "table$batch.tsv"
  done
  check "$arguments: batches of one record" same_files table1.tsv table2000.tsv
  check "$arguments: batches of several" same_files table20.tsv table2000.tsv
done
check "lines of the records that have variants" n_lines_is table2000.tsv 6
printf '\357\273\277name,mutant\r\np,M11A\r\n' | gzip >v.csv.gz
works infer score -q --device cpu --model "$esm" --variants v.csv.gz --first-residue 11 p.fa
check "a compressed table with a mark at its start" n_lines_is out.txt 2
works infer contacts -q --device cpu --model "$esm" p.fa
check "a row a residue" n_lines_is out.txt 5
works infer info "$esm"
check "what the folder holds" out_has '^architecture	ESM-2$'
works infer embed -q --device cpu --model "$esm" p.fa -o out.npy --json run.json
check "the summary" grep -q '"residues": 5' run.json
check "what a CPU computes in" grep -q '"precision": "fp32"' run.json
works infer embed -q --device cpu --precision fp16 --model "$esm" p.fa -o out.npy --json run.json
check "what a CPU computes in, whatever was asked for" grep -q '"precision": "fp32"' run.json
check "what a CPU took of a GPU" grep -q '"peak_device_bytes": 0' run.json

# Errors name what is wrong.
printf '>p\nMKJ\n' >unknown.fa
fails 3 'unknown.fa: record 1 (p): residue 3 is .J.' infer embed --device cpu --model "$esm" unknown.fa -o bad.npy
fails 3 'standard input: record 1 (p): residue 3' infer embed --device cpu --model "$esm" - -o bad.npy <unknown.fa
check "no file after an error" absent bad.npy
works infer embed -q --device cpu --model "$esm" --allow-unknown unknown.fa -o good.npy
fails 3 "the sequence has M at 1" infer score --device cpu --model "$esm" --variants <(echo K1A) p.fa
printf 'name,mutant\nr,M1A\nq,M1A\n' >names.csv
fails 3 "names.csv: line 2: no sequence is named 'r'" infer score --device cpu --model "$esm" \
  --variants names.csv p.fa -o never.tsv
fails 3 "replaces residue 1 twice" infer score --device cpu --model "$esm" --variants <(echo M1A:M1C) p.fa
fails 3 "expected a residue" infer score --device cpu --model "$esm" --variants <(echo M1A:) p.fa
fails 3 ": has no variant" infer score --device cpu --model "$esm" --variants <(echo) p.fa
printf 'name,mutant\n' >empty.csv
fails 3 "empty.csv: has no variant" infer score --device cpu --model "$esm" --variants empty.csv p.fa -o never.tsv
fails 2 "needs a file, not standard input" infer score --device cpu --model "$esm" --variants - p.fa
# What has an effect on variants alone is refused without them.
for option in "--method wt-marginal" "--method masked-marginal" "--first-residue 1"; do
  # shellcheck disable=SC2086
  fails 2 "${option% *} needs --variants or --all-single" infer score --device cpu --model "$esm" $option p.fa
  # shellcheck disable=SC2086
  works infer score -q --device cpu --model "$esm" --all-single $option p.fa
done
for suffix in npy npz safetensors h5 hdf5; do
  fails 2 "--output: 'never.$suffix'; expected a name that ends in .tsv" infer score --device cpu --model "$esm" p.fa -o "never.$suffix"
  fails 2 "--output: 'never.$suffix'; expected a name that ends in .tsv" infer fill-mask --device cpu --model "$esm" p.fa -o "never.$suffix"
  check "no table as never.$suffix" absent "never.$suffix"
done
for option in "--sequences p.fa" "--orders 5" "--chains A" "--fixed A1" "--seed 3"; do
  # shellcheck disable=SC2086
  fails 2 "is for models of structures" infer score --device cpu --model "$esm" $option p.fa
done
printf '>__metadata__\nMKT\n' >odd.fa
fails 2 "cannot be a name in safetensors" infer embed --device cpu --model "$esm" odd.fa -o never.safetensors
printf '>caf\351\nMKT\n' >odd.fa
fails 2 "is not UTF-8" infer embed --device cpu --model "$esm" odd.fa -o never.safetensors
fails 2 "is not UTF-8" infer embed --device cpu --model "$esm" odd.fa -o never.npz
printf '>a/./b\nMKT\n' >odd.fa
fails 2 "cannot be a name in HDF5" infer embed --device cpu --model "$esm" odd.fa -o never.h5
printf 'name,mutant\nr,"M1A\n' >quote.csv
fails 3 "quote.csv: line 2: a quote is not closed" infer score --device cpu --model "$esm" --variants quote.csv p.fa \
  -o never.tsv
# No output takes the place of what is read, or of another output.
cp -r "$esm" kept
cp -r "$esm" replaced
printf 'name\tmutant\none\tM1A\n' >v.tsv
cp v.tsv kept.tsv
for output in "-o v.tsv" "-o p.fa" "-o replaced/config.json" "-o never.tsv --json replaced/model.safetensors" \
  "-o never.tsv --json v.tsv" "-o never.tsv --resume --json never.tsv.partial"; do
  # shellcheck disable=SC2086
  fails 2 "the same file\|expected a name that ends in" infer score --device cpu --model replaced --variants v.tsv p.fa $output
done
fails 2 "the index and --json name the same file" infer embed --device cpu --model "$esm" p.fa -o never.npy \
  --json never.npy.index.tsv
fails 2 "both go to standard output" infer score --device cpu --model "$esm" p.fa --json -
fails 2 "the same file" infer bench --device cpu --model replaced --json replaced/config.json
check "the variants are what they were" same_files v.tsv kept.tsv
check "the model is what it was" diff -r "$esm" replaced
# Nor has one its name where the summary cannot be written.
mkdir a_folder
fails 1 "a_folder" infer score --device cpu --model "$esm" p.fa -o never.tsv --json a_folder
if [ -c /dev/full ]; then
  ln -s /dev/full full.json.gz
  fails 1 "No space left" infer score --device cpu --model "$esm" p.fa -o never.tsv --json full.json.gz
  fails 1 "No space left" infer embed --device cpu --model "$esm" p.fa -o never.npz --json full.json.gz
fi
fails 1 "none/run.json" infer score --device cpu --model "$esm" p.fa --json none/run.json -o never.tsv
check "no output after an error" absent never.tsv
fails 2 "ProtBERT has no 'contacts'; it offers embed, logits, fill-mask, score" infer contacts --device cpu --model "$bert" p.fa
fails 2 "--output: 'out.png'; expected a name that ends in .npy" infer embed --device cpu --model "$esm" p.fa -o out.png
fails 2 'layer 3' infer embed --device cpu --model "$esm" --layers 3 p.fa
fails 1 'nowhere/config.json: cannot be opened: No such file or directory' infer embed --device cpu --model nowhere p.fa
fails 1 "facebook/esm2_t6_8M_UR50D: no folder of that name; of the Hugging Face hub? 'hf download facebook/esm2_t6_8M_UR50D --local-dir esm2_t6_8M_UR50D', then --model esm2_t6_8M_UR50D$" \
  infer embed --device cpu --model facebook/esm2_t6_8M_UR50D p.fa
mkdir facebook
fails 1 'facebook/esm2_t6_8M_UR50D/config.json: cannot be opened' infer embed --device cpu --model facebook/esm2_t6_8M_UR50D p.fa
cp -r "$esm" broken
sed -i 's/"hidden_size": 64/"hidden_size": 128/' broken/config.json
fails 3 'have another shape' infer info broken
# Nor is there room for what config.json alone says: a matrix of 68 GB.
sed -i 's/"hidden_size": 128/"hidden_size": 131072/; s/"num_attention_heads": 4/"num_attention_heads": 2048/' broken/config.json
fails 3 'word_embeddings.weight \[33, 64\] instead of \[33, 131072\]' infer info broken
sed -i 's/"hidden_size": 131072/"hidden_size": 16777216/; s/"num_attention_heads": 2048/"num_attention_heads": 131072/' \
  broken/config.json
(
  limit_memory 1500000
  "$biogpu" infer embed --device cpu --model broken "$proteins" -o never.npy
) >out.txt 2>err.txt
rc=$?
check "gigabytes that nobody has" rc_is 3
check "the shape" err_has 'word_embeddings.weight \[33, 64\] instead of \[33, 16777216\]'
python3 -c 'print("{\"model_type\": \"esm\", \"hidden_act\": " + "{\"a\": " * 100000 + "1" + "}" * 100001)' >broken/config.json
fails 3 'broken/config.json: arrays or objects are nested more than 64 deep' infer info broken
python3 -c 'print("{\"model_type\": \"" + "x" * 90000 + "\"}")' >broken/config.json
fails 3 "model_type is 'xxx" infer info broken
check "a line that can be read" [ "$(wc -c <err.txt)" -lt 600 ]
printf '>%s\nMKJ\n' "$(head -c 70000 /dev/zero | tr '\0' n)" >long.fa
fails 3 'record 1 (nnn.*): residue 3 is' infer embed --device cpu --model "$esm" long.fa -o never.npy
check "a line that can be read, of a long name" [ "$(wc -c <err.txt)" -lt 300 ]
cp "$esm/config.json" broken/config.json
sed -i 's/"model_type": "esm"/"model_type": "gpt2"/' broken/config.json
fails 3 "model_type is 'gpt2'" infer info broken
head -c 5000 "$esm/model.safetensors" >broken/model.safetensors
cp "$esm/config.json" broken/config.json
fails 3 'model.safetensors' infer info broken

for eps in 1e300 -1e-5 0; do
  sed "s/\"layer_norm_eps\": [^,]*/\"layer_norm_eps\": $eps/" "$esm/config.json" >broken/config.json
  fails 3 'layer_norm_eps is .*; expected a number above 0' infer info broken
done
cp "$esm/model.safetensors" broken
sed 's/"num_hidden_layers": 2/"num_hidden_layers": 16777216/' "$esm/config.json" >broken/config.json
fails 3 'num_hidden_layers is 16777216; the weights have no encoder.layer.16777215' infer info broken

# Names that nobody knows are listed, whatever config.json says.
cp "$esm/config.json" broken
LC_ALL=C sed 's/esm\.encoder/esm.decoder/g' "$esm/model.safetensors" >broken/model.safetensors
fails 3 'tensors are missing: encoder.layer.0.*are unknown: decoder.' infer info broken

# Results that are no numbers name the record, and write nothing. A weight of ProtBERT's first
# normalisation is so large that what follows is infinite; ESM-2 has such an embedding of W alone.
set_tensor=$source_dir/tests/support/set_tensor.py
mkdir large odd
cp "$bert/config.json" large
python3 "$set_tensor" "$bert/model.safetensors" large/model.safetensors \
  bert.encoder.layer.0.attention.output.LayerNorm.weight 3e38
cp "$esm/config.json" odd
python3 "$set_tensor" "$esm/model.safetensors" odd/model.safetensors esm.embeddings.word_embeddings.weight 3e38 22
fails 1 'p.fa: record 1 (p): the result is NaN or infinite' infer embed --device cpu --model large p.fa -o never.npy
fails 1 'p.fa: record 1 (p): the result is NaN or infinite' infer score --device cpu --model large p.fa -o never.tsv
fails 1 'look at the weights' infer score --device cpu --model large --all-single p.fa -o never.tsv
printf '>m\nMK<mask>AY\n' >m.fa
fails 1 'm.fa: record 1 (m): the result' infer fill-mask --device cpu --model large m.fa -o never.tsv
printf '>none\n\n>masks\n<mask><mask>\n>a\nMKTAYIAKQR\n' >several.fa
works infer embed -q --device cpu --model odd --include residues,mean,cls several.fa
works infer contacts -q --device cpu --model odd several.fa
works infer fill-mask -q --device cpu --model "$esm" several.fa
works infer score -q --device cpu --model "$esm" several.fa
check "the perplexity of nothing" out_has '^none	0	0.000000	nan$'
printf '>w\nMKWAY\n>b\nMKT\n' >>several.fa
for kinds in mean residues,mean,cls; do
  for batch in 12 2000; do
    fails 1 'several.fa: record 4 (w): the result' infer embed --device cpu --model odd --batch "$batch" \
      --include "$kinds" --layers 0,-1 several.fa -o never.npz
  done
done
# Its head has that embedding, too: the first record that asks for probabilities is named.
printf '>w\nMKWAY\n>b\nMKT\n>m\nM<mask>K\n>n\nMW<mask>\n' >shared.fa
for batch in 12 2000; do
  fails 1 'several.fa: record 3 (a): the result' infer score --device cpu --model odd --batch "$batch" several.fa \
    -o never.tsv
  fails 1 'shared.fa: record 3 (m): the result' infer fill-mask --device cpu --model odd --batch "$batch" shared.fa \
    -o never.tsv
done
if [ "$backend" = emulated ]; then
  works infer embed -q --device gpu --model "$esm" p.fa -o out.npy --json gpu.json
  check "time of a GPU" grep -q '"gpu_s": [0-9.e-]*[1-9]' gpu.json
  check "what a GPU computes in" grep -q '"precision": "fp16"' gpu.json
  check "memory of a GPU" grep -q '"peak_device_bytes": [1-9]' gpu.json
  works infer embed -q --device gpu --precision tf32 --model "$esm" p.fa -o out.npy --json gpu.json
  check "what a GPU is told to compute in" grep -q '"precision": "tf32"' gpu.json
  fails 1 'the result is NaN or infinite' infer embed --device gpu --precision bf16 --model large p.fa -o never.npy
  fails 1 'record 4 (w): .*try --precision bf16' infer embed --device gpu --precision fp16 --model odd several.fa -o never.npy
fi
check "no array of what is no number" absent never.npy
check "no arrays of what is no number" absent never.npz
check "no table of what is no number" absent never.tsv

finish
