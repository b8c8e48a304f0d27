#!/usr/bin/env bash
# What models of proteins and structures say of odd input: names that hold the signs of an output's format, DNA,
# records longer than in training, and options that would have no effect.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
esm=$source_dir/tests/data/models/esm2_head16
bert=$source_dir/tests/data/models/protbert_head16
pdb=$source_dir/tests/data/models/proteinmpnn/edited.pdb
python3 "$source_dir/tests/support/random_proteinmpnn.py" mpnn >/dev/null

# Names of files and of config.json.
cp -r mpnn named
python3 - <<'PYTHON'
import json
config = json.load(open("named/config.json"))
config["name"] = "v\t1\n>second 'x'"
json.dump(config, open("named/config.json", "w"))
PYTHON
odd=$(printf 'a\tb\nc"d.pdb')
cp "$pdb" "$odd"
printf '>s\t1\nSLHL\n' >s.fa
run infer design -q --device cpu --model named "$odd" --save-probs probs.tsv
check "exit code 0" rc_is 0
check "a record of two lines for each sequence" n_lines_is out.txt 4
check "the file's name in one line" grep -qF '>a\tb\nc"d, score=' out.txt
check "the model's name in the same" grep -qF "model_name=v\\t1\\n>second 'x', git_hash=" out.txt
check "each line of the arrays begins with the name" bash -c '! grep -vqF "a\tb\nc\"d/" probs.tsv'
run infer info named
check "a line a fact" bash -c '! grep -qv "^[a-z_]*	[^	]*$" out.txt'
check "the model's name in one" grep -qF "v\\t1\\n>second 'x'" out.txt
run infer score -q --device cpu --model mpnn "$odd" --json run.json
check "a line of eight columns" awk -F'\t' 'NF != 8 { ++n } END { exit n > 0 || NR != 2 }' out.txt
check "JSON" python3 -c 'import json; assert "\n" in json.load(open("run.json"))["inputs"][0]["path"]'
awk '/^ATOM/ && substr($0, 22, 1) == "A"' "$pdb" >one.pdb
run infer score -q --device cpu --model mpnn one.pdb
own=$(awk 'NR == 2 { print $3 }' FS='\t' out.txt)
printf '>x\ty\033[1m\n%s\n' "$own" >s.fa
run infer score -q --device cpu --model mpnn --sequences s.fa one.pdb
check "a name with a tab and an escape" grep -qF '	x\ty\x1b[1m	' out.txt
check "eight columns" awk -F'\t' 'NF != 8 { ++n } END { exit n > 0 || NR != 3 }' out.txt

# Chains joined by ':', compressed, and what is said where they do not fit.
run infer score -q --device cpu --model mpnn "$pdb"
own=$(awk -F'\t' 'NR == 2 { print $3 }' out.txt)
printf '>g\n%s\n' "$own" >slash.fa
tr / : <slash.fa >colon.fa
gzip -c colon.fa >colon.fa.gz
run infer score -q --device cpu --model mpnn --sequences slash.fa "$pdb"
cp out.txt slash.txt
for given in colon.fa colon.fa.gz; do
  run infer score -q --device cpu --model mpnn --sequences $given "$pdb"
  check "$given" same_files slash.txt out.txt
done
printf '>short\nMKT:LLA\n' >short.fa
fails 3 "sequence short: the parts between '/' or ':'" infer score -q --device cpu --model mpnn --sequences short.fa "$pdb"
printf '>short\nMKTLLA\n' >short.fa
fails 3 "has 6 residues, the designed chains, joined by '/' or ':', have" infer score -q --device cpu --model mpnn \
  --sequences short.fa "$pdb"

# DNA, and a record of more than twice the training's residues: a line each, in every task.
{
  printf '>protein\nMKTAYIAKQRQISFVKSHFSRQ\n>gene\nATGAAAACCGCATATATTGCAAAACAGCGT\n>rna\nAUGAAAACCGCAUAUAUUGCAAAACAGCGU\n>long\n'
  for _ in {1..230}; do printf 'MKLVIEDFHW'; done
  printf '\n>longer\n'
  for _ in {1..250}; do printf 'MKLVIEDFHW'; done
  echo
} >mixed.fa
for task in embed logits contacts fill-mask "score --method wt-marginal --all-single"; do
  [ "$task" = contacts ] && limit=2100 || limit=2050
  # shellcheck disable=SC2086
  run infer $task -q --device cpu --model "$esm" --truncate $limit mixed.fa -o odd.tsv
  check "$task: exit code 0" rc_is 0
  check "$task: one line of DNA" [ "$(grep -c 'looks like DNA' err.txt)" -eq 1 ]
  check "$task: of the first record" err_has 'mixed.fa: record 2 (gene) looks like DNA; the model reads proteins'
  check "$task: one line of length" [ "$(grep -c 'trained on up to 1022' err.txt)" -eq 1 ]
  check "$task: of the first" err_has "mixed.fa: record 4 (long) has $limit residues"
done
run infer embed -q --device cpu --model "$esm" --truncate 2044 mixed.fa -o odd.tsv
check "twice the training is no warning" bash -c '! grep -q "trained on" err.txt'
printf '>a\nGAGAGATGANAGTCTAGNA\n>b\nGGSGGSGGSGGSGGSGGSGGSGGSGGS\n>c\n%s\n' "$(printf 'ACGTACGTACGTACGTACGR%.0s' 1 2)" >few.fa
run infer embed -q --device cpu --model "$bert" few.fa -o odd.tsv
check "a few letters, and a linker, are no DNA" err_has 'record 3 (c) looks like DNA'
printf '>a\nGAGAGATGANAGTCTAGNA\n>b\nGGSGGSGGSGGSGGSGGSGGSGGSGGS\n' >few.fa
run infer embed -q --device cpu --model "$bert" few.fa -o odd.tsv
check "no warning" err_is_empty

# Names that a format cannot hold are refused by file and record, and the others hold them.
python3 - <<'PYTHON'
open("name.fa", "w").write(">ok\nMKTA\n>" + "n" * 65531 + "\nMKTL\n")
open("names.fa", "w").write(">ok\nMKTA\n>" + "n" * 65532 + "\nMKTL\n")
open("twice.fa", "w").write(2 * (">" + "n" * 65530 + "\nMKTL\n"))
PYTHON
embed=(infer embed -q --device cpu --model "$esm")
works "${embed[@]}" name.fa -o fits.npz
check "the longest name" python3 -c '
import zipfile
assert [len(n) for n in zipfile.ZipFile("fits.npz").namelist()] == [6, 65535]'
fails 2 "names.fa: record 2 (nnn.*: no.npz: the name 'nnn.* has more than the 65535 bytes" "${embed[@]}" names.fa -o no.npz
fails 2 "twice.fa: record 2 (nnn.*: no.npz: the name" "${embed[@]}" twice.fa -o no.npz
check "no archive" absent no.npz
for suffix in npy h5 safetensors tsv; do works "${embed[@]}" names.fa -o long.$suffix; done
printf '>caf\351\nMKT\n' >latin.fa
for suffix in npz safetensors; do
  fails 2 "latin.fa: record 1 (caf.*: no.$suffix: the name .* is not UTF-8" "${embed[@]}" latin.fa -o no.$suffix
done

# Tables of variants.
printf '>wt\nMKTAYIAKQR\n' >wt.fa
score=(infer score -q --device cpu --model "$esm" wt.fa --variants)
printf '"mutation"\n"K2R"\n"T3S:A4G"\n' >r.csv
run "${score[@]}" r.csv
# shellcheck disable=SC2016  # expanded by the shell that is called
check "as R writes it" bash -c '[ "$(cut -f 2 out.txt | tr "\n" " ")" = "mutant K2R T3S:A4G " ]'
printf 'mutation,score\nK2R,1\n,2\n' >empty.csv
fails 3 "empty.csv: line 3: column 1 (the variant; that of the wild type is WT) is empty" "${score[@]}" empty.csv -o no.tsv
printf 'gene\tchange\nwt\tK2R\n' >head.tsv
fails 3 "head.tsv: line 1: no column is called mutant, mutation or variant, and 'change' is no variant" "${score[@]}" head.tsv
printf 'mutant\nT3S\nWT\nK2R\nA4G\n' >order.tsv
run "${score[@]}" order.tsv
# shellcheck disable=SC2016
check "in the order of the table" bash -c '[ "$(cut -f 2 out.txt | tr "\n" " ")" = "mutant T3S WT K2R A4G " ]'

# Options that would have no effect.
design=(infer design -q --device cpu --model mpnn "$pdb")
fails 2 "chain-id-jsonl and --chains exclude\|--chains and --chain-id-jsonl exclude" "${design[@]}" --chains A --chain-id-jsonl c.jsonl
fails 2 "--pssm-bias needs --pssm-jsonl too" "${design[@]}" --pssm-bias --pssm-multi 0.5
fails 2 "--pssm-bias needs --pssm-multi too" "${design[@]}" --pssm-bias --pssm-jsonl p.jsonl
fails 2 "--pssm-multi needs --pssm-bias too" "${design[@]}" --pssm-multi 0.5
fails 2 "--pssm-log-odds needs --pssm-jsonl too" "${design[@]}" --pssm-log-odds
fails 2 "--pssm-threshold needs --pssm-log-odds too" "${design[@]}" --pssm-threshold 1
fails 2 "--pssm-jsonl needs --pssm-bias or --pssm-log-odds too" "${design[@]}" --pssm-jsonl p.jsonl
fails 2 "ESM-2 has no --keep-rare, which is for ProtBERT" infer embed --device cpu --model "$esm" --keep-rare wt.fa
works infer embed -q --device cpu --model "$bert" --keep-rare wt.fa
run infer logits -q --device cpu --model "$esm" --precision bf16 wt.fa
check "exit code 0" rc_is 0
check "a precision that the CPU does not have" err_has "warning: --precision bf16: the CPU computes in fp32"

finish
