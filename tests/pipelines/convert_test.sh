#!/usr/bin/env bash
# scripts/convert/to_safetensors.py on files as fair-esm publishes them, and on what it must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi
esm=$source_dir/tests/data/models/esm2_head16
"$python" "$source_dir/tests/support/fair_esm.py" "$esm" . || exit 1

# convert RC ARGUMENTS...: leaves what run() leaves.
convert() {
  local code=$1
  shift
  last_command="to_safetensors.py $*"
  "$python" "$source_dir/scripts/convert/to_safetensors.py" "$@" >out.txt 2>err.txt
  rc=$?
  check "exit code $code of $*" rc_is "$code"
}
# refused PATTERN ARGUMENTS...: one line on stderr, and no folder.
refused() {
  local pattern=$1
  shift
  convert 1 "$1" refused "${@:2}"
  check "one line" n_lines_is err.txt 1
  check "the file's name" err_has "$1\|${*: -1}"
  check "the error says '$pattern'" err_has "$pattern"
  check "no folder" absent refused
}

# The options lie in a Namespace: in cfg those of ESM-2, in args those of the files before it.
works infer embed -q --device cpu --model "$esm" --include residues "$source_dir/tests/data/models/proteins.fa" -o as_it_is.npz
works infer contacts -q --device cpu --model "$esm" "$source_dir/tests/data/models/proteins.fa" -o contacts.npz
for file in esm2_t2 args zip_less; do
  convert 0 "$file.pt" "$file" --contacts esm2_t2-contact-regression.pt
  works infer embed -q --device cpu --model "$file" --include residues "$source_dir/tests/data/models/proteins.fa" -o converted.npz
  check "the same numbers of $file.pt" same_files as_it_is.npz converted.npz
  works infer contacts -q --device cpu --model "$file" "$source_dir/tests/data/models/proteins.fa" -o converted.npz
  check "the same contacts of $file.pt" same_files contacts.npz converted.npz
done
convert 0 esm2_t2.pt alone
works infer embed -q --device cpu --model alone --include residues "$source_dir/tests/data/models/proteins.fa" -o converted.npz
check "the same numbers without contacts" same_files as_it_is.npz converted.npz

# A head that is another one than the embedding is kept, and so refused; one that shares its memory is written where
# config.json does not tie the two.
convert 0 untied.pt untied
fails 3 'differ from the words of the embedding, .*: lm_head.decoder.weight' infer info untied
for tie in true false; do
  sed "1s/{/{\"tie_word_embeddings\": $tie,/" "$esm/config.json" >shared/config.json
  convert 0 shared "tied_$tie"
  works infer info "tied_$tie"
done
check "a head for itself" grep -q '"lm_head.decoder.weight"' tied_false/model.safetensors
check "a head that is the embedding's" bash -c "! grep -q '\"lm_head.decoder.weight\"' tied_true/model.safetensors"
echo none >shared/config.json
refused 'config.json: is no JSON' shared

refused 'No such file' nothing.pt
refused 'No such file' esm2_t2.pt --contacts nothing.pt
refused 'holds .*\.system,' runs_code.pt
check "nothing was run" absent ran
refused 'holds pathlib.*PurePosixPath,' other_class.pt
refused 'a contact head and no model' esm2_t2-contact-regression.pt
refused 'holds no contact head' esm2_t2.pt --contacts args.pt
refused 'no rotary frequencies' other_model.pt
refused "has no 'model'" list.pt
head -c 20000 esm2_t2.pt >cut.pt
: >empty.pt
echo text >text.pt
for file in cut.pt empty.pt text.pt; do refused 'is damaged, or no checkpoint' "$file"; done
mkdir folder
refused 'no pytorch_model' folder
cp runs_code.pt folder/pytorch_model.bin
refused 'holds .*\.system,' folder

finish
