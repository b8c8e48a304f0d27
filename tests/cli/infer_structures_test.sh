#!/usr/bin/env bash
# `--resume` and `--shard` of `infer design` and of `infer score` with a model of structures, on random weights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export BIOGPU_DEVICE=cpu

python3 "$source_dir/tests/support/random_proteinmpnn.py" model
pdb=$source_dir/tests/data/models/proteinmpnn/edited.pdb

# Structures of several lengths; one tells a warning.
mkdir folder
for i in 10 11 12 13 14 15 16 17 18 19; do
  awk -v last="$i" '/^(ATOM|HETATM)/ && substr($0, 23, 4) - first > last { next }
    /^ATOM/ && !first { first = substr($0, 23, 4) + 0 } { print }' "$pdb" >"folder/s$i.pdb"
done
sed -i 's/^\(ATOM.\{13\}\)LEU/\1QQQ/' folder/s12.pdb
design=(infer design --model model folder -n 3 --temperature "0.5,1" --seed 7)
run "${design[@]}" -q -o whole.fa --save-probs whole.npz --json whole.json
check "a whole run" rc_is 0
check "its warning" err_has 's12.pdb: residues of no known parent are read as X: QQQ$'
check "records of 10 structures" n_lines_is whole.fa 140
check "lengths differ" [ "$(awk '/^>s/ { getline; print length }' whole.fa | sort -u | wc -l)" -gt 5 ]

# Folders: suffixes in capitals count, and the files that macOS adds to others do not.
mkdir mac
cp folder/s10.pdb mac/low.pdb
cp folder/s11.pdb mac/UP.PDB
printf '\0\5\26\7' >mac/._low.pdb
works infer score -q --model model mac
check "both structures of a folder" [ "$(cut -f 1 out.txt | tail -n +2 | tr '\n' ' ')" = "UP low " ]

# A chain without a letter: ' ' names it, and its positions have none.
sed -n 's/^\(ATOM.\{17\}\)A/\1 /p' folder/s15.pdb >noname.pdb
works infer design -q --model model noname.pdb --chains ' ' --fixed '2-4' -o noname.fa
check "designed" n_lines_is noname.fa 4
check "but for the fixed positions" [ "$(sed -n 2p noname.fa | cut -c 2-4)" = "$(sed -n 4p noname.fa | cut -c 2-4)" ]
fails 3 "noname.pdb: has no chain 'A'; its chains are ' '" infer design --model model noname.pdb --chains A -o never.fa
fails 2 "'3' is no position" infer design --model model folder/s15.pdb --fixed 3 -o never.fa

# Parts, one after the other, are the whole; parts of more parts than structures are empty.
for n in 2 3 11; do
  parts=()
  for i in $(seq "$n"); do
    run "${design[@]}" -q -o "$i.fa" --shard "$i/$n" --json "$i.json"
    check "part $i of $n" rc_is 0
    parts+=("$i.fa")
  done
  cat "${parts[@]}" >joined.fa
  check "$n parts of designs" same_files whole.fa joined.fa
  works gather -o joined.fa "${parts[@]}"
  check "$n parts of designs, gathered" same_files whole.fa joined.fa
done
check "the last of 11 parts is empty" n_lines_is 11.fa 0
check "summaries of parts" python3 -c 'import json
parts = [json.load(open(f"{i}.json")) for i in range(1, 12)]
assert [p["result"]["structures"] for p in parts] == [1] * 10 + [0], parts
assert [len(p["inputs"]) for p in parts] == [1] * 10 + [0], parts
assert sum(p["result"]["residues"] for p in parts) == json.load(open("whole.json"))["result"]["residues"] > 0'
fails 2 "expected part/parts" "${design[@]}" --shard 3/2 -o never.fa

awk 'NR == 2 { print ">x\n" $0 }' whole.fa >given.fa
score=(infer score -q --model model folder/s11.pdb folder/s13.pdb folder/s15.pdb folder/s17.pdb --orders 2)
works "${score[@]}" -o whole.tsv
check "a line of each" n_lines_is whole.tsv 5
for n in 2 3 7; do
  parts=()
  for i in $(seq "$n"); do
    works "${score[@]}" -o "$i.tsv" --shard "$i/$n"
    parts+=("$i.tsv")
  done
  works gather -o joined.tsv "${parts[@]}"
  check "$n parts of scores" same_files whole.tsv joined.tsv
done

# resumed WHAT WHOLE: the interrupted run of designs goes on and ends as the whole run did.
resumed() {
  check "$1: what was done is kept" exists r.fa.partial
  check "$1: and not under the final name" absent r.fa
  check "$1: nor are probabilities" absent r.npz
  run "${design[@]}" -t 2 -o r.fa --save-probs r.npz --json r.json --resume
  check "$1: the rest" rc_is 0
  check "$1: begins with what is there" err_has '[1-9][0-9]* record.* there already$'
  check "$1: the same designs" same_files "$2.fa" r.fa
  check "$1: the same probabilities" same_files "$2.npz" r.npz
  check "$1: nothing is left behind" absent r.fa.partial
  check "$1: all is in the summary" python3 -c 'import json, sys
r, whole = (json.load(open(name)) for name in ("r.json", sys.argv[1] + ".json"))
assert r["result"] == whole["result"] and r["inputs"] == whole["inputs"], r
assert r["warnings"] == whole["warnings"] != [], r' "$2"
  rm -f r.fa r.npz
}

# Cut short by a limit of size, inside a batch.
last_command="biogpu ${design[*]}, limited"
(ulimit -f 120 && exec "$biogpu" "${design[@]}" -q -t 1 -o r.fa --save-probs r.npz --resume) >out.txt 2>err.txt
rc=$?
check "a limit of size" rc_is 1
check "the reason" err_has 'File too large'
resumed "a limit of size" whole

# Cut short by signals, while it waits for its last structure.
mkfifo last.pdb
design=(infer design --model model folder last.pdb -n 3 --seed 7)
cat "$pdb" >last.pdb &
run "${design[@]}" -q -o waited.fa --save-probs waited.npz --json waited.json
check "a whole run with a pipe" rc_is 0
for signal in TERM KILL; do
  last_command="biogpu ${design[*]}, $signal"
  "$biogpu" "${design[@]}" -q -t 1 -o r.fa --save-probs r.npz --resume >out.txt 2>err.txt &
  pid=$!
  for _ in $(seq 1000); do
    [ "$(stat -c %s r.fa.partial 2>/dev/null || echo 0)" -gt 50000 ] && break
    sleep 0.05
  done
  kill -$signal $pid
  wait $pid 2>/dev/null
  rc=$?
  check "ended by $signal" rc_is $((128 + $(kill -l $signal)))
  cat "$pdb" >last.pdb &
  resumed "$signal" waited
done

# What a run left is refused by another one, and taken by one that differs in nothing that counts.
printf '{"A": 0.5}\n' >bias.jsonl
head -c 5000 "$pdb" >cut.pdb
tried=(infer design --model model folder cut.pdb -n 2 --fixed A1 -o d.fa --resume)
bias=(--bias-AA-jsonl bias.jsonl)
fails 3 "cut.pdb: record" "${tried[@]}" -t 1 "${bias[@]}"
cp d.fa.partial kept
check "some structures are there" [ "$(stat -c %s kept)" -gt 4000 ]
# refuses WHAT OPTIONS...
refuses() {
  local what=$1
  shift
  fails 1 'd.fa.partial: is of a run with other inputs, model or options' "${tried[@]}" "$@"
  check "$what: the log is what it was" same_files kept d.fa.partial
}
refuses "no table of biases"
refuses "another seed" "${bias[@]}" --seed 2
refuses "another temperature" "${bias[@]}" --temperature 0.2
refuses "X allowed" "${bias[@]}" --allow-X
refuses "noise" "${bias[@]}" --backbone-noise 0.1
refuses "chains" "${bias[@]}" --chains A
refuses "copies" "${bias[@]}" --homooligomer
refuses "probabilities" "${bias[@]}" --save-probs never.npz
refuses "a part" "${bias[@]}" --shard 1/2
refuses "more structures" "${bias[@]}" "$pdb"
fails 3 "cut.pdb: record" "${tried[@]}" "${bias[@]}" -t 2 --json never.json --max-device-memory 1G -v
check "the rest of it" err_has '[1-9][0-9]* record.* there already$'
touch -d 2001-01-01 bias.jsonl
cp d.fa.partial kept
refuses "another table of biases" "${bias[@]}"
check "nothing under other names" absent never.npz
check "and no summary" absent never.json

# Fewer structures than the log holds are a log of another run; its counts are held against the list.
cp kept d.fa.partial
touch -r model/config.json bias.jsonl
rm d.fa.partial
fails 3 "cut.pdb: record" "${tried[@]}" -t 1 "${bias[@]}"
python3 - d.fa.partial <<'END'
import struct
import sys
import zlib

log = open(sys.argv[1], "rb").read()
head = log[: 16 + struct.unpack_from("<Q", log, 8)[0]]
batch = struct.pack("<7Q", 1 << 40, 9, 0, 0, 0, 0, 0)
open(sys.argv[1], "wb").write(head + struct.pack("<Q", len(batch)) + batch + struct.pack("<I", zlib.crc32(batch)))
END
fails 3 'd.fa.partial: holds 1099511627765 records more than the inputs' "${tried[@]}" "${bias[@]}"
rm d.fa.partial

# A table of scores goes on, too.
scored=(infer score --model model folder cut.pdb --orders 2 -o s.tsv --resume)
fails 3 "cut.pdb: record" "${scored[@]}" -t 1 --sequences /dev/null
fails 1 'is of a run with other inputs' "${scored[@]}"
rm s.tsv.partial
fails 3 "cut.pdb: record" "${scored[@]}" -t 1
fails 1 'is of a run with other inputs' "${scored[@]}" --orders 3
fails 3 "cut.pdb: record" "${scored[@]}" --threads 2
check "scores that were there" err_has '[1-9][0-9]* record.* there already$'

fails 2 "resume needs an output file" infer design --model model folder --resume
fails 2 "resume needs input files" infer design --model model - -o never.fa --resume
fails 2 "the same file" infer design --model model folder -o never.fa --resume --json never.fa.partial
check "no output after an error" absent never.fa
finish
