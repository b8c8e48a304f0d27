#!/usr/bin/env bash
# scripts/convert on files as they are published, and on what it must refuse.
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

# Weights of an earlier model do not stay beside those in several files, nor the other way round.
cp -r alone parts
last_command="to_safetensors.py with files of 20 kB"
PYTHONPATH=$source_dir/scripts/convert "$python" -c "
import sys, to_safetensors
to_safetensors.SHARD_BYTES = 20_000
sys.argv[1:] = ['esm2_t2.pt', 'parts']
to_safetensors.main()" >out.txt 2>err.txt
check "several files" exists parts/model-00002-of-*.safetensors
check "in the place of one" absent parts/model.safetensors
works infer embed -q --device cpu --model parts --include residues "$source_dir/tests/data/models/proteins.fa" -o converted.npz
check "the same numbers of them" same_files as_it_is.npz converted.npz
convert 0 esm2_t2.pt parts
check "one file again" [ "$(echo parts/*)" = "$(cd alone && printf 'parts/%s\n' * | paste -sd ' ')" ]

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

# Borzoi: a folder without safetensors, and a tensor that biogpu does not read.
borzoi=$source_dir/tests/data/models/borzoi_tiny
"$python" - "$borzoi" <<'EOF' || exit 1
import pathlib, shutil, sys
import safetensors.torch, torch
source = pathlib.Path(sys.argv[1])
state = safetensors.torch.load_file(source / "model.safetensors")
for folder in ("pickled_borzoi", "gated_borzoi"):
    pathlib.Path(folder).mkdir()
    shutil.copy(source / "config.json", folder)
    torch.save(state, pathlib.Path(folder) / "pytorch_model.bin")
    state["transformer.0.0.fn.1.to_gate.weight"] = torch.ones(3)
EOF
convert 0 pickled_borzoi converted_borzoi
works infer tracks -q --device cpu --model "$borzoi" "$borzoi/windows.fa" -o tiny.npz
works infer tracks -q --device cpu --model converted_borzoi "$borzoi/windows.fa" -o converted.npz
check "the same tracks of Borzoi" same_files tiny.npz converted.npz
refused 'tensors are not read: transformer.0.0.fn.1.to_gate.weight' gated_borzoi

# Enformer: the trunk's second names, the table of gamma features, and copies that differ.
enformer=$source_dir/tests/data/models/enformer_tiny
"$python" - "$enformer" <<'EOF' || exit 1
import json, pathlib, shutil, sys
import safetensors.torch, torch
source = pathlib.Path(sys.argv[1])
state = safetensors.torch.load_file(source / "model.safetensors")
parts = {"stem.": "_trunk.1.", "conv_tower.": "_trunk.2.", "transformer.": "_trunk.4.", "final_pointwise.": "_trunk.6."}
for name in list(state):
    for part, copy in parts.items():
        if name.startswith(part):
            state[copy + name[len(part):]] = state[name]
for folder in ("published", "differing"):
    pathlib.Path(folder).mkdir()
    shutil.copy(source / "config.json", folder)
    torch.save(state, pathlib.Path(folder) / "pytorch_model.bin")
    state["_trunk.1.0.bias"] = state["stem.0.bias"] + 1
torch.save(torch.rand(3071, 32), "table.pt")
# The shape of the official weights, with the tensors of another: a converter looks at names alone.
pathlib.Path("official").mkdir()
shutil.copy("published/pytorch_model.bin", "official")
config = json.loads((source / "config.json").read_text())
config.update(dim=1536, heads=8, num_downsamples=7, sequence_length=196608)
pathlib.Path("official/config.json").write_text(json.dumps(config))
EOF
enformer_py() { "$python" "$source_dir/scripts/convert/enformer.py" "$@" >out.txt 2>err.txt; rc=$?; }
printf 'index\tidentifier\n' >targets_human.txt
cp targets_human.txt tracks.txt
enformer_py published enformer --targets targets_human.txt
check "Enformer is converted" rc_is 0
check "with its tracks" same_files targets_human.txt enformer/targets_human.txt
enformer_py published enformer
check "once more without" rc_is 0
check "removes the table" absent enformer/targets_human.txt
check "nothing is left" bash -c '! ls enformer | grep -q partial'
works infer tracks -q --device cpu --model "$enformer" "$enformer/windows.fa" -o tiny.npz
works infer tracks -q --device cpu --model enformer "$enformer/windows.fa" -o converted.npz
check "the same tracks" same_files tiny.npz converted.npz
check "once each" bash -c '! grep -aq _trunk enformer/model.safetensors'

# Official weights do not tell the form of their gamma features.
enformer_py official table --gamma-table table.pt
check "with the table" bash -c 'grep -aq gamma_position_basis table/model.safetensors && grep -q "\"gamma\": \"tf-table\"" table/config.json'
enformer_py official features --gamma features
check "or with a form" bash -c '! grep -aq gamma_position_basis features/model.safetensors && grep -q "\"gamma\": \"features\"" features/config.json'

# enformer_refused PATTERN ARGUMENTS...: one line on stderr, and no folder.
enformer_refused() {
  local pattern=$1
  shift
  enformer_py "$1" refused "${@:2}"
  check "refused: $*" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the error says '$pattern'" err_has "$pattern"
  check "no folder" absent refused
}
enformer_refused "stem.0.bias differs\|differs from stem.0.bias" differing
enformer_refused "does not tell its gamma features; give --gamma-table" official
enformer_refused "is no table of gamma features" official --gamma-table published/pytorch_model.bin
enformer_refused "is for 1,536 positions and 32 features" published --gamma-table table.pt
enformer_refused "No such file" published --targets nothing/targets_human.txt
enformer_refused "known are targets_human.txt, targets_mouse.txt" published --targets targets_human.txt tracks.txt
mkdir damaged
cp "$enformer/config.json" damaged
head -c 20000 "$enformer/model.safetensors" >damaged/model.safetensors
enformer_refused "model.safetensors: cannot be read" damaged

# ProteinMPNN: a checkpoint as it is published, and what is none.
python3 "$source_dir/tests/support/random_proteinmpnn.py" designer
"$python" - <<'EOF' || exit 1
import tarfile
import safetensors.torch, torch
state = safetensors.torch.load_file("designer/model.safetensors")
whole = {"num_edges": 48, "noise_level": 0.2, "model_state_dict": state}
torch.save(whole, "v_48_020.pt")
for name, changes in {"no_edges": {"num_edges": "48"}, "no_noise": {"noise_level": float("nan")}, "no_state": {"model_state_dict": [1]},
                      "no_tensor": {"model_state_dict": {"a": 1}}, "no_weight": {"model_state_dict": {"a": torch.zeros(2)}},
                      "more": {"model_state_dict": {**state, "another.weight": torch.zeros(2)}}}.items():
    torch.save({**whole, **changes}, f"{name}.pt")
torch.save([1, 2], "list.pt")
class Runs:
    def __reduce__(self):
        return open, ("ran", "w")
torch.save({**whole, "optimizer": Runs()}, "code.pt")
tarfile.open("old.pt", "w").close()
EOF
head -c 20000 v_48_020.pt >half.pt
gzip -c half.pt | head -c 20 >zipped.pt
proteinmpnn_py() { "$python" "$source_dir/scripts/convert/proteinmpnn.py" "$@" >out.txt 2>err.txt; rc=$?; }
proteinmpnn_py v_48_020.pt v_48_020
check "ProteinMPNN is converted" rc_is 0
pdb=$source_dir/tests/data/models/proteinmpnn/edited.pdb
works infer design -q --device cpu --model designer "$pdb" -n 2 --seed 7 -o as_it_is.fa
works infer design -q --device cpu --model v_48_020 "$pdb" -n 2 --seed 7 -o converted.fa
check "the same designs" same_files as_it_is.fa converted.fa
# proteinmpnn_refused PATTERN INPUT: one line on stderr, and no folder.
proteinmpnn_refused() {
  proteinmpnn_py "$2" refused
  check "refused: $2" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the error says '$1'" err_has "^proteinmpnn.py: $2: $1"
  check "no folder" absent refused
  check "nothing was run" absent ran
}
proteinmpnn_refused 'No such file' nothing.pt
proteinmpnn_refused 'is damaged, or no checkpoint of torch' half.pt
proteinmpnn_refused 'contains objects other than tensors, which are not loaded, or is damaged' zipped.pt
proteinmpnn_refused 'is a tar file' old.pt
proteinmpnn_refused 'contains objects other than tensors' code.pt
proteinmpnn_refused 'has no model_state_dict' list.pt
proteinmpnn_refused 'has no model_state_dict' no_state.pt
proteinmpnn_refused 'model_state_dict contains something other than tensors' no_tensor.pt
proteinmpnn_refused 'has no features.edge_embedding.weight' no_weight.pt
proteinmpnn_refused 'num_edges is not a whole number' no_edges.pt
proteinmpnn_refused 'noise_level is not a number' no_noise.pt
proteinmpnn_refused '.*another.weight' more.pt

# Files that are something else than they seem, and a torch that cannot read them safely.
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:77ab\nsize 4096\n' >pointer.pt
proteinmpnn_refused 'is a Git LFS pointer' pointer.pt
refused 'is a Git LFS pointer' pointer.pt
mkdir pointer
cp "$enformer/config.json" pointer
cp pointer.pt pointer/model.safetensors
enformer_refused 'model.safetensors: is a Git LFS pointer' pointer
for script in "proteinmpnn.py v_48_020.pt" "to_safetensors.py esm2_t2.pt"; do
  last_command="an old torch: $script"
  # shellcheck disable=SC2086
  "$python" - "$source_dir/scripts/convert" $script refused >out.txt 2>err.txt <<'EOF'
import runpy, sys
import torch
torch.__version__ = "1.13.1"
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(f"{sys.path[0]}/{sys.argv[0]}", run_name="__main__")
EOF
  rc=$?
  check "refused" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the version" err_has 'needs torch 2.5 or newer .*here is 1.13.1'
  check "no folder" absent refused
done

# Prefixes of training programs, in the model's folder and in what a converter reads.
"$python" - "$enformer" "$borzoi" <<'EOF' || exit 1
import pathlib, shutil, sys
import safetensors.torch, torch
for source, wrapper in zip(map(pathlib.Path, sys.argv[1:]), ("_orig_mod.module.", "module.model.")):
    state = {wrapper + name: value for name, value in safetensors.torch.load_file(source / "model.safetensors").items()}
    for folder in (f"wrapped_{source.name}", f"pickled_{source.name}"):
        pathlib.Path(folder).mkdir()
        shutil.copy(source / "config.json", folder)
    safetensors.torch.save_file(state, f"wrapped_{source.name}/model.safetensors")
    torch.save(state, f"pickled_{source.name}/pytorch_model.bin")
EOF
enformer_py pickled_enformer_tiny unwrapped_enformer
check "Enformer is converted" rc_is 0
convert 0 pickled_borzoi_tiny unwrapped_borzoi
for name in enformer borzoi; do
  works infer tracks -q --device cpu --model "$source_dir/tests/data/models/${name}_tiny" \
    "$source_dir/tests/data/models/${name}_tiny/windows.fa" -o tiny.npz
  for folder in "wrapped_${name}_tiny" "unwrapped_$name"; do
    works infer tracks -q --device cpu --model "$folder" "$source_dir/tests/data/models/${name}_tiny/windows.fa" -o got.npz
    check "the same tracks of $folder" same_files tiny.npz got.npz
  done
  check "names of the model" bash -c "! grep -aq module unwrapped_$name/model.safetensors"
done

finish
