#!/usr/bin/env bash
# `biogpu infer design`, and `infer score` with a model of structures, on random weights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python3 - model <<'PY'
# Any weights of the right shapes will do here; tests/unit/mpnn compares numbers.
import json, pathlib, random, struct, sys
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
random.seed(1)
shapes = {"features.embeddings.linear": (16, 66), "W_e": (128, 128), "W_out": (21, 128)}
for l in range(3):
    for kind, parts, names in (("encoder", 3, "1 2 3 11 12 13"), ("decoder", 4, "1 2 3")):
        prefix = f"{kind}_layers.{l}."
        for name in names.split():
            shapes[prefix + "W" + name] = (128, parts * 128 if name in ("1", "11") else 128)
        shapes[prefix + "dense.W_in"], shapes[prefix + "dense.W_out"] = (512, 128), (128, 512)
tensors = {"features.edge_embedding.weight": (128, 416), "W_s.weight": (21, 128)}
for name, shape in shapes.items():
    tensors[name + ".weight"], tensors[name + ".bias"] = shape, shape[:1]
norms = ["features.norm_edges"] + [f"encoder_layers.{l}.norm{i}" for l in range(3) for i in (1, 2, 3)]
norms += [f"decoder_layers.{l}.norm{i}" for l in range(3) for i in (1, 2)]
for name in norms:
    tensors[name + ".weight"] = tensors[name + ".bias"] = (128,)
header, data = {}, bytearray()
for name, shape in tensors.items():
    size = shape[0] * (shape[1] if len(shape) == 2 else 1)
    block = [random.uniform(-0.2, 0.2) for _ in range(min(size, 4099))]
    values = (block * (size // len(block) + 1))[:size]
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * size]}
    data += struct.pack(f"<{size}f", *values)
text = json.dumps(header).encode()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
config = {"model_type": "proteinmpnn", "name": "v_48_020", "num_edges": 48, "noise_level": 0.2}
(folder / "config.json").write_text(json.dumps(config))
PY

pdb=$source_dir/tests/data/infer/mpnn/edited.pdb
own='SLHLPKYDDXVQSISVLALTMSGSELHGIMCG/SLHLPMYDDFVQXISVLALTMXSGSELHGIMCG'

# The same designs for any number of threads, with the original's headers.
works infer design -q --model model "$pdb" -n 3 --temperature 0.5,1.0 --seed 7 -t 1 -o one.fa
works infer design -q --model model "$pdb" -n 3 --temperature 0.5,1.0 --seed 7 -t 2 -o two.fa
check "two threads" same_files one.fa two.fa
check "a record of the structure and of each sample" n_lines_is one.fa 14
works infer design -q --model model "$pdb" -n 3 --temperature 0.5,1.0 --seed 7
check "header of the structure" out_has "^>edited, score=[0-9.]*, global_score=[0-9.]*, fixed_chains=\[\], \
designed_chains=\['A', 'B'\], model_name=v_48_020, git_hash=[^,]*, seed=7$"
check "its own sequence" out_has "^$own$"
check "header of a sample" out_has '^>T=1.0, sample=3, score=[0-9.]*, global_score=[0-9.]*, seq_recovery=[0-9.]*$'

# A folder with compressed files; probabilities and a summary beside the designs.
mkdir folder
gzip -c "$pdb" >folder/b.pdb.gz
cp "$pdb" folder/a.pdb
works infer design -q --model model folder --save-probs p.npz --json run.json
check "the first structure" out_has '^>a, '
check "the second structure" out_has '^>b, '
check "probabilities of both" python3 -c 'import zipfile
names = zipfile.ZipFile("p.npz").namelist()
assert "a/probs.npy" in names and "b/log_probs.npy" in names'
check "a summary" python3 -c 'import json
assert json.load(open("run.json"))["result"]["structures"] == 2'
works infer design -q --model model "$pdb" --chains A --fixed A1-31
check "fixed positions" out_has '^SLHLPKYDDXVQSISVLALTMSGSELHGIMC.$'
check "a chain that stays" out_has "fixed_chains=\['B'\], designed_chains=\['A'\]"

# A sequence scores the same from the structure and from FASTA.
printf '>same\n%s\n' "$own" >same.fa
works infer score -q --model model --sequences same.fa --orders 2 "$pdb"
check "one score" test "$(awk -F'\t' 'NR > 1 {print $3, $4, $6}' out.txt | uniq | wc -l)" = 1
check "both sequences" n_lines_is out.txt 3

# Bad input: one line, and nothing under the output's name.
fails 3 "edited.pdb: has no chain 'Q'" infer design --model model "$pdb" --chains Q -o never.fa
fails 3 'position 99 is outside chain A' infer design --model model "$pdb" --fixed A99 -o never.fa
fails 2 'is no position' infer design --model model "$pdb" --fixed 12 -o never.fa
grep HETATM "$pdb" | sed 's/MSE/HOH/' >water.pdb
fails 3 'no residue with the backbone atoms' infer design --model model water.pdb -o never.fa
head -c 5000 "$pdb" >cut.pdb
fails 3 'cut.pdb: record ' infer design --model model "$pdb" cut.pdb -o never.fa
fails 1 'none.pdb' infer design --model model none.pdb -o never.fa
fails 4 'run on the CPU only' infer design --model model --device gpu "$pdb" -o never.fa
check "no output after an error" absent never.fa

finish
