#!/usr/bin/env bash
# `biogpu infer affinity`: ligands of one protein, pairs, ensembles, resuming, shards, refusals.
# shellcheck disable=SC2016  # awk and inner shells expand their own
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

folder=$source_dir/tests/data/models/dualbind
ligands=$folder/ligands.sdf
protein=$folder/protein.pdb
affinity() { run infer affinity -q --device cpu --model "$folder" "$@"; }

affinity --protein "$protein" "$ligands" -o out.tsv
if grep -q "RDKit\|libbiogpu_rdkit" err.txt; then
  check "without RDKit" rc_is 2
  finish
fi
check "ligands of one protein" rc_is 0
check "columns" cmp <(head -1 out.tsv) <(printf 'protein\tligand\taffinity_kcal_mol\tn_ligand_atoms\tn_pocket_atoms\twarning\n')
check "a line a molecule" n_lines_is out.tsv 13
check "titles of molecules" bash -c '[ "$(sed -n 13p out.tsv | cut -f 2)" = ligand12 ]'
check "the file of the protein" bash -c '[ "$(cut -f 1 out.tsv | tail -n +2 | uniq)" = "$0" ]' "$protein"
check "the affinities of PyTorch in double precision" python3 - "$folder" <<'END'
import json, struct, sys
bytes_ = open(sys.argv[1] + "/expected.safetensors", "rb").read()
n = struct.unpack("<Q", bytes_[:8])[0]
entry = json.loads(bytes_[8:8 + n])["energy"]
begin, end = entry["data_offsets"]
expected = struct.unpack(f"<{entry['shape'][0]}d", bytes_[8 + n + begin:8 + n + end])
lines = [line.split("\t") for line in open("out.tsv")][1:]
assert len(lines) == len(expected)
for line, energy in zip(lines, expected):
    assert abs(float(line[2]) - energy) < 5e-6, (line, energy)
    assert len(line[2].split(".")[1]) == 6, line
END
run infer affinity --device cpu --model "$folder" --protein "$protein" "$ligands" -o licence.tsv --json licence.json
check "the licence" err_has "research and evaluation only"
check "the summary" bash -c 'grep -q "\"complexes\": 12" licence.json && grep -q "\"checkpoints\": 1" licence.json'

# The same for any batch and number of threads, from gzip and from mmCIF's and V3000's forms.
for options in "--batch 1" "--batch 5 -t 1" "--batch 100 -t 2"; do
  # shellcheck disable=SC2086
  affinity $options --protein "$protein" "$ligands" -o other.tsv
  check "the same with $options" same_files other.tsv out.tsv
done
gzip -c "$ligands" >ligands.SDF.gz
cp "$protein" protein.pdb
gzip -k protein.pdb
affinity --protein protein.pdb.gz ligands.SDF.gz -o other.tsv
check "the same from gzip" same_files <(cut -f 2- other.tsv) <(cut -f 2- out.tsv)

# Several files, shards, resuming.
awk -v RS='[$][$][$][$]\n' '{ printf "%s$$$$\n", $0 > (NR <= 5 ? "first.sdf" : "second.sdf") }' "$ligands"
affinity --protein "$protein" first.sdf second.sdf -o other.tsv
check "several files" same_files other.tsv out.tsv
for part in 1 2 3; do affinity --protein "$protein" --shard $part/3 first.sdf second.sdf -o part$part.tsv; done
run gather part1.tsv part2.tsv part3.tsv -o gathered.tsv
check "shards" same_files gathered.tsv out.tsv
affinity --protein "$protein" --resume --batch 2 "$ligands" -o resumed.tsv
check "with --resume" same_files resumed.tsv out.tsv
check "nothing is left" bash -c '! ls resumed.tsv.* 2>/dev/null'
# A run that ends at a bad molecule goes on where it ended.
{ cat "$ligands"; printf 'bad\n\n\nwords\n$$$$\n'; } >long.sdf
affinity --protein "$protein" --resume --batch 2 long.sdf -o long.tsv
check "a bad molecule" rc_is 3
check "its place" err_has "long.sdf: molecule 13: "
check "no output of a run that failed" test ! -e long.tsv
check "finished batches are kept" test -s long.tsv.partial
touch -r long.sdf time
n_blank=$(($(stat -c %s long.sdf) - $(stat -c %s "$ligands")))
{ cat "$ligands"; head -c "$n_blank" /dev/zero | tr '\0' '\n'; } >padded.sdf
mv padded.sdf long.sdf
touch -r time long.sdf
affinity --protein "$protein" --resume --batch 2 long.sdf -o long.tsv
check "resumed" same_files long.tsv out.tsv

# Pairs: the first molecule of a file.
awk -v RS='[$][$][$][$]\n' 'NR <= 3 { printf "%s$$$$\n", $0 > ("one" NR ".sdf") }' "$ligands"
printf '%s\tone1.sdf\r\nprotein.pdb.gz\tone2.sdf\n%s\tone3.sdf\n\n%s\t%s\n' "$protein" "$protein" "$protein" "$ligands" >pairs.tsv
affinity --pairs pairs.tsv -o pairs_out.tsv
check "pairs" rc_is 0
check "the same affinities" same_files <(tail -n +2 pairs_out.tsv | cut -f 3) <(sed -n '2,4p' out.tsv | cut -f 3; sed -n 2p out.tsv | cut -f 3)
check "names of files" bash -c '[ "$(sed -n 3p pairs_out.tsv | cut -f 1,2)" = "protein.pdb.gz	one2.sdf" ]'
check "further molecules" bash -c 'sed -n 5p pairs_out.tsv | cut -f 6 | grep -q further_molecules'
affinity --pairs pairs.tsv --shard 2/2 -o part.tsv
check "a shard of pairs" same_files <(tail -n +2 part.tsv) <(tail -n 2 pairs_out.tsv)
printf 'one column\n' >bad.tsv
affinity --pairs bad.tsv -o none.tsv
check "a line that is no pair" err_has "bad.tsv: line 1: expected the files of a protein and of a ligand, separated by a tab"
check "is bad input" rc_is 3
affinity --pairs pairs.tsv one1.sdf -o none.tsv
check "pairs and ligands" rc_is 2
affinity one1.sdf -o none.tsv
check "ligands without a protein" rc_is 2
check "what is expected" err_has "expected --protein and files of ligands, or --pairs"

# A ligand in another frame than the protein has the affinity 0, and the run says so.
python3 - <<'END'
lines = open("one1.sdf").read().split("\n")
n = int(lines[3][:3])
for i in range(4, 4 + n):
    lines[i] = f"{float(lines[i][:10]) + 500:10.4f}{lines[i][10:]}"
open("shifted.sdf", "w").write("\n".join(lines))
END
affinity --protein "$protein" shifted.sdf one2.sdf -o shifted.tsv
check "a ligand elsewhere" rc_is 0
check "has no near pair" grep -q "no_near_pair$" shifted.tsv
check "is told" err_has "warning: 1 complex with the affinity 0: no atom of the ligand is near the protein (no_near_pair); coordinates of both must have one frame"
affinity --protein "$protein" one2.sdf -o shifted.tsv
check "no other is" err_is_empty

# An ensemble: mean and standard deviation.
mkdir second && cp "$folder/config.json" second && python3 - "$folder" <<'END'
import json, struct, sys
data = bytearray(open(sys.argv[1] + "/model.safetensors", "rb").read())
n = struct.unpack("<Q", data[:8])[0]
begin, end = json.loads(data[8:8 + n])["binder_output.2.bias"]["data_offsets"]
for at in range(8 + n + begin, 8 + n + end, 4):
    data[at:at + 4] = struct.pack("<f", struct.unpack("<f", data[at:at + 4])[0] * 1.5)
open("second/model.safetensors", "wb").write(data)
END
run infer affinity -q --device cpu --model second --protein "$protein" "$ligands" -o second.tsv
affinity --ensemble second --protein "$protein" "$ligands" -o both.tsv
check "an ensemble" rc_is 0
check "mean and standard deviation" python3 - <<'END'
import statistics
tables = [[line.rstrip("\n").split("\t") for line in open(name)] for name in ("out.tsv", "second.tsv", "both.tsv")]
assert tables[2][0][2:4] == ["affinity_kcal_mol", "affinity_sd"], tables[2][0]
assert any(a[2] != b[2] for a, b in zip(tables[0][1:], tables[1][1:]))
for a, b, both in zip(*(table[1:] for table in tables)):
    values = [float(a[2]), float(b[2])]
    assert abs(float(both[2]) - statistics.mean(values)) < 2e-6, (values, both)
    assert abs(float(both[3]) - statistics.stdev(values)) < 2e-6, (values, both)
END

# What is refused, and what --skip-bad leaves out.
cp first.sdf first.smi
affinity --protein "$protein" first.smi -o none.tsv
check "a file without a suffix" err_has "expected .sdf, .sd, .mol or .mol2"
{ head -c "$(stat -c %s first.sdf)" first.sdf; printf 'bad\n\n\nwords\n$$$$\n'; cat second.sdf; } >mixed.sdf
affinity --protein "$protein" --skip-bad mixed.sdf -o mixed.tsv --json mixed.json
check "skipped molecules" rc_is 3
check "the others" same_files mixed.tsv out.tsv
check "are counted" bash -c 'grep -q "\"complexes\": 12" mixed.json && tr -d "\n " <mixed.json | grep -q "\"skipped\":{\"complexes\":1}"'
check "and told" err_has "1 complex that is bad"
printf 'HETATM\n' >no_ligand.sdf
: >nothing.sdf
printf '%s\tone3.sdf\n%s\tno_ligand.sdf\n%s\tnothing.sdf\n%s\tone2.sdf\n' "$protein" "$protein" "$protein" "$protein" >some.tsv
affinity --pairs some.tsv -o none.tsv
check "a bad pair" rc_is 3
run infer affinity --device cpu --model "$folder" --pairs some.tsv --skip-bad -o some_out.tsv
check "skipped pairs" rc_is 3
check "the other pairs" same_files <(tail -n +2 some_out.tsv | cut -f 3) <(sed -n 4p out.tsv | cut -f 3; sed -n 3p out.tsv | cut -f 3)
check "the first of them" err_has "skipped: some.tsv: line 2: no_ligand.sdf: "
check "the second" err_has "skipped: some.tsv: line 3: nothing.sdf: holds no molecule"
check "their number" err_has "2 complexes that are bad"
printf 'protein\tligand\n%s\tone2.sdf\n' "$protein" >header.tsv
affinity --pairs header.tsv -o none.tsv
check "a header is named by its line" err_has "header.tsv: line 1: ligand: no format by its suffix"
printf '\nno_protein.pdb\tone2.sdf\n' >far.tsv
affinity --pairs far.tsv --skip-bad -o none.tsv
check "a file that is not there ends a run" rc_is 1
check "with the line" err_has "far.tsv: line 2: no_protein.pdb: cannot be opened"
affinity --protein "$ligands" first.sdf -o none.tsv
check "a protein that is none" rc_is 3
check "no output of it" test ! -e none.tsv
printf 'HETATM    1  C1  LIG A   1       1.000   2.000   3.000  1.00  0.00           C\n' >ligand.pdb
affinity --protein ligand.pdb first.sdf -o none.tsv
check "a protein without amino acids" err_has "ligand.pdb: holds no atom of an amino acid"
: >empty.sdf
affinity --protein "$protein" empty.sdf -o empty.tsv
check "an empty file" rc_is 0
check "its table" n_lines_is empty.tsv 1
cp first.sdf own.sdf
affinity --protein "$protein" own.sdf -o own.sdf
check "an output that is an input" rc_is 2
run infer energy -q --device cpu --model "$folder" "$ligands"
check "another task" rc_is 2
check "what there is" err_has "affinity"

finish
