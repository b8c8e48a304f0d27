#!/usr/bin/env bash
# `biogpu infer design`, and `infer score` with a model of structures, on random weights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python3 "$source_dir/tests/support/random_proteinmpnn.py" model

pdb=$source_dir/tests/data/models/proteinmpnn/edited.pdb
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

works infer info model
check "what the model is" out_has '^architecture	proteinmpnn$'
check "its size" out_has '^parameters	1660485$'

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
cp out.txt structure_first.fa
works infer design -q --model model --fixed A1-31 --chains A "$pdb"
check "options in front of the structure" same_files out.txt structure_first.fa
works infer design -q --model model --temperature 0.1,0.2 "$pdb"
works infer design -q --model model --bias A:1,C:2 "$pdb"
works infer design -q --model model "$pdb" --chains A --fixed A1-32
check "scores of nothing" out_has '^>T=0.1, sample=1, score=nan, global_score=[0-9.]*, seq_recovery=nan$'

# Copies of a chain, of which one has lost all of its first residue but one atom.
python3 - "$pdb" <<'END'
import sys
chain = [line for line in open(sys.argv[1]) if line[:4] == "ATOM" and line[21] == "A"]
copy = [line[:21] + "B" + line[22:30] + f"{float(line[30:38]) + 12:8.3f}" + line[38:] for line in chain]
number = min(int(line[22:26]) for line in copy)
copy = [line for line in copy if int(line[22:26]) != number or line[12:16] == " N  "]
open("dimer.pdb", "w").writelines(chain + copy)
END
works infer design -q --model model dimer.pdb --homooligomer
check "copies get one sequence" python3 -c '
a, b = open("out.txt").read().split("\n")[3].split("/")
assert a[1:] == b[1:] and b[0] == "S" and a[0] != "X", (a, b)'
fails 3 "position 2 of chain A keeps its residue and is tied to position 2 of chain B" infer design --model model \
  dimer.pdb --homooligomer --fixed A1-5 -o never.fa

# A sequence scores the same from the structure and from FASTA.
printf '>same\n%s\n' "$own" >same.fa
works infer score -q --model model --sequences same.fa --orders 2 "$pdb"
check "one score" test "$(awk -F'\t' 'NR > 1 {print $3, $4, $6}' out.txt | uniq | wc -l)" = 1
check "both sequences" n_lines_is out.txt 3
printf '>a\tb\n%s\n' "${own//\//}" >same.fa
works infer score -q --model model --sequences same.fa "$pdb"
check "chains may lie side by side, and a tab is no column" out_has '^edited	a\\tb	'
printf '>moved\n%s\n' "${own:0:10}/${own:10:22}${own:33}" >moved.fa
fails 3 "sequence moved: the parts between '/' or ':' are not as long as the designed chains" infer score --model model \
  --sequences moved.fa "$pdb"

# X is drawn where it is asked for, and only there. Residue 10 is missing and stays X. On the CPU: for so many
# samples `auto` takes a GPU, and the emulated one would need minutes.
letters_of() { awk 'NR > 2 && !/^>/' out.txt | cut -c 1-9,11- | tr -d '\n' | fold -w 1 | sort -u | tr -d '\n'; }
for omit in "" "--omit W" "--omit XW"; do
  # shellcheck disable=SC2086
  works infer design -q --model model --device cpu "$pdb" --chains A -n 60 --temperature 50 $omit
  expected=ACDEFGHIKLMNPQRSTVWY
  [ -z "$omit" ] || expected=${expected/W/}
  check "letters drawn with '$omit'" [ "$(letters_of)" = "$expected" ]
done
works infer design -q --model model --device cpu "$pdb" --chains A -n 60 --temperature 50 --omit W --allow-X
check "X where it is allowed" [ "$(letters_of)" = ACDEFGHIKLMNPQRSTVXY ]
fails 2 "leaves no letter" infer design --model model "$pdb" --omit YWVTSRQPNMLKIHGFEDCA -o never.fa
fails 2 "X is omitted and allowed" infer design --model model "$pdb" --omit X --allow-X -o never.fa

# Names of a residue's states are the residue; a name of no known parent is told.
sed 's/^\(ATOM.\{13\}\)HIS/\1HSE/; s/^\(ATOM.\{13\}\)ASP/\1ASH/; s/^\(ATOM.\{13\}\)LYS/\1LYN/' "$pdb" >edited.pdb
works infer score -q --model model "$pdb"
cp out.txt expected.tsv
works infer score -q --model model edited.pdb
check "protonation states" same_files out.txt expected.tsv
sed 's/^\(ATOM.\{13\}\)HIS/\1QQQ/; s/^HETATM\(.\{11\}\)MSE/HETATM\1ZZZ/' "$pdb" >odd.pdb
run infer score -q --model model odd.pdb --json odd.json
check "a residue of another name" rc_is 0
check "a name that becomes X" err_has 'warning: odd.pdb: residues of no known parent are read as X: QQQ$'
check "a residue that is left out" err_has 'warning: odd.pdb: HETATM residues of no known parent are left out: ZZZ$'
check "warnings in the summary" grep -q 'read as X: QQQ"' odd.json

# A membrane model's inputs are no leftovers; the converter knows the same names.
mkdir membrane && cp model/config.json membrane
python3 "$source_dir/tests/support/copy_tensor.py" model/model.safetensors membrane/model.safetensors \
  W_e.weight W_v.weight
fails 3 "1 are unknown: W_v.weight" infer design --model membrane "$pdb" -o never.fa
fails 3 "1 are unknown: W_v.weight" infer info membrane
fails 2 "ESM-2 has no 'design'; it offers embed, logits, fill-mask, score, contacts" infer design --model "$source_dir/tests/data/models/esm2_head16" \
  "$pdb" -o never.fa
check "the converter" python3 - "$source_dir" <<'END'
import sys

sys.path[:0] = [sys.argv[1] + "/scripts/convert", sys.argv[1] + "/tests/support"]
import random_proteinmpnn
import tensor_names

names = list(random_proteinmpnn.shapes())
unused = ["W_v.bias", "features.node_embedding.weight", "features.norm_nodes.weight"]
assert tensor_names.unread_proteinmpnn(names, False) == []
assert tensor_names.unread_proteinmpnn(names + unused, False) == unused
assert tensor_names.unread_proteinmpnn(names + unused, True) == []
assert tensor_names.unread_proteinmpnn(names + ["encoder_layers.3.W1.bias", "xW_e.bias", "W_e.biases"], True) != []
assert len(tensor_names.unread_proteinmpnn(["encoder_layers.3.W1.bias", "xW_e.bias", "W_e.biases"], True)) == 3
assert tensor_names.unread_transformer(["lm_head.decoder.bias", "esm.pooler.dense.bias"], "esm") == ["lm_head.decoder.bias"]
assert tensor_names.unread_transformer(["cls.predictions.decoder.bias", "bert.head.bias"], "bert") == ["bert.head.bias"]
END

# What small files may cost is bounded.
awk '/^ATOM/ && substr($0, 22, 1) == "A" && n < 8 {
  number = n++ < 4 ? 1 : 9000
  print substr($0, 1, 22) sprintf("%4d", number) substr($0, 27)
}' "$pdb" >far.pdb
fails 3 "residues 1 to 9000: 8998 numbers are left out" infer design --model model far.pdb -o never.fa
head -c 64M /dev/zero | tr '\0' '\n' | gzip >bomb.pdb.gz
fails 3 "bomb.pdb.gz: gzip expands to more than 50 times its size" infer design --model model bomb.pdb.gz -o never.fa
mkdir deep && cp model/model.safetensors deep
python3 -c 'print("{\"model_type\": " + "[" * 300000 + "]" * 300000 + "}")' >deep/config.json
fails 3 "deep/config.json: arrays or objects are nested" infer design --model deep "$pdb" -o never.fa
sed 's/"num_edges": 48/"num_edges": 16777216/' model/config.json >deep/config.json
fails 3 "num_edges is 16777216; expected a number from 1 to 128" infer design --model deep "$pdb" -o never.fa

# The GPU's designs are the CPU's. Four residues, as the emulated device takes them one by one.
if [ "$backend" = emulated ]; then
  grep '^ATOM' "$pdb" | awk 'substr($0, 22, 1) == "A" && substr($0, 23, 4) + 0 < '"$(
    awk '/^ATOM/ {print substr($0, 23, 4) + 4; exit}' "$pdb")" >tiny.pdb
  works infer design -q --model model tiny.pdb -n 2 --temperature 0.5 --device cpu -o cpu.fa
  works infer design -q --model model tiny.pdb -n 2 --temperature 0.5 --device gpu -o gpu.fa --json gpu.json
  check "the GPU's designs" same_files cpu.fa gpu.fa
  check "four residues" test "$(awk 'NR == 2 {print length}' gpu.fa)" = 4
  check "a summary that names the GPU" grep -q emulated gpu.json
  works infer score -q --model model tiny.pdb --orders 2 --device cpu -o cpu.tsv
  works infer score -q --model model tiny.pdb --orders 2 --device gpu -o gpu.tsv
  check "the GPU's scores" same_files cpu.tsv gpu.tsv
fi

# Both files get their names, or none.
if [ -c /dev/full ]; then
  fails 1 "" infer design --model model "$pdb" --save-probs never.npz -o /dev/full
  ln -s /dev/full full.gz
  fails 1 "No space left" infer design --model model "$pdb" --save-probs never.npz -o full.gz
  fails 1 "No space left" infer design --model model "$pdb" --save-probs never.npz -o never.fa --json full.gz
  check "no probabilities without sequences" absent never.npz
fi
# No output takes the place of what is read, or of another output.
cp -r model kept
printf '{"edited": {"A": [1], "B": []}}\n' >fix.jsonl
cp fix.jsonl kept.jsonl
for output in "--save-probs never.npz -o never.npz" "-o folder/a.pdb" "--save-probs folder/a.pdb" \
  "-o model/config.json" "--fixed-positions-jsonl fix.jsonl -o fix.jsonl" "--bias-AA-jsonl fix.jsonl --json fix.jsonl" \
  "--draws fix.jsonl -o fix.jsonl" "--save-probs never.npy --json never.npy.index.tsv"; do
  # shellcheck disable=SC2086
  fails 2 "" infer design --model model folder $output
  check "no output is a file that is read: $output" absent never.npz
done
printf '>a\n%s\n' "$own" >given.fa
cp given.fa kept.fa
cp given.fa given.txt
fails 2 "the same file" infer score --model model "$pdb" --sequences given.txt -o given.txt
fails 2 "--output: 'never.npz'; expected a name that ends in .tsv, .txt" infer score --model model "$pdb" -o never.npz
check "the structure is what it was" same_files "$pdb" folder/a.pdb
check "the positions are what they were" same_files fix.jsonl kept.jsonl
check "the sequences are what they were" same_files given.fa kept.fa
check "the model is what it was" diff -r model kept
# Options without effect are not taken.
for option in "--batch 5" "--max-memory 1G"; do
  # shellcheck disable=SC2086
  fails 2 "${option%% *}" infer design --model model "$pdb" $option
  # shellcheck disable=SC2086
  fails 2 "is for models of sequences" infer score --model model "$pdb" $option
done
# What is for models of sequences is not passed over.
for option in "--variants none.tsv" --all-single "--method wt-marginal" --keep-rare; do
  # shellcheck disable=SC2086
  fails 2 "is for models of sequences" infer score --model model $option "$pdb"
done

for option in "--temperature nan" "--backbone-noise nan" "--pssm-multi nan" "--bias A:nan" "--seed -1"; do
  # shellcheck disable=SC2086
  fails 2 "${option%% *}" infer design --model model $option "$pdb" -o never.fa
done
sed 's/^\(ATOM.\{17\}\)A/\11/' "$pdb" >digit.pdb
works infer design -q --model model digit.pdb --chains 1 --fixed 1:1-31
check "a chain with a digit for a name" out_has '^SLHLPKYDDXVQSISVLALTMSGSELHGIMC.$'

# Bad input: one line, and nothing under the output's name.
fails 3 "edited.pdb: has no chain 'Q'" infer design --model model "$pdb" --chains Q -o never.fa
fails 3 'position 99 is outside chain A' infer design --model model "$pdb" --fixed A99 -o never.fa
fails 2 'is no position' infer design --model model "$pdb" --fixed 12 -o never.fa
grep HETATM "$pdb" | sed 's/MSE/HOH/' >water.pdb
fails 3 'no residue with the backbone atoms' infer design --model model water.pdb -o never.fa
head -c 5000 "$pdb" >cut.pdb
fails 3 'cut.pdb: record ' infer design --model model "$pdb" cut.pdb -o never.fa
fails 1 'none.pdb' infer design --model model none.pdb -o never.fa
mkdir large && cp model/config.json large
python3 "$source_dir/tests/support/set_tensor.py" model/model.safetensors large/model.safetensors \
  encoder_layers.0.norm1.weight 3e38
fails 1 'edited: the result is NaN or infinite' infer score --model large "$pdb" -o never.tsv
fails 1 'edited: the result is NaN or infinite' infer design --model large "$pdb" -o never.fa
if [ "$backend" = emulated ]; then
  fails 1 'tiny: the result is NaN or infinite' infer design --device gpu --model large tiny.pdb -o never.fa
fi
if [ "$backend" = none ]; then
  fails 4 'this build has no GPU backend' infer design --model model --device gpu "$pdb" -o never.fa
fi
check "no output after an error" absent never.fa

finish
