#!/usr/bin/env bash
# `biogpu infer tracks` where the tracks of a window are too large to be held at once: groups of heads.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/alphagenome_tiny
windows=$model/windows.fa
# tracks FOLDER ARGUMENTS...
tracks() { run infer tracks -q --device cpu -t 2 --model "$1" "${@:2}"; }
summary() { python3 -c "import json, sys; print(json.load(open('$1'))$2)"; }

# A window of 1,024 bases has 140 KB of tracks, and a head of 6 tracks of bases 25 KB.
for format in npz h5 safetensors tsv; do
  tracks "$model" "$windows" --json whole.json -o "whole.$format"
  check "whole windows, $format" rc_is 0
  for bound in 200K 60K 1K; do
    tracks "$model" "$windows" --max-memory $bound --json groups.json -o "groups.$format"
    check "groups of $bound, $format" rc_is 0
    check "have the same bytes" same_files "groups.$format" "whole.$format"
    check "and are several" test "$(summary groups.json "['result']['head_groups']")" -gt 1
    check "of all windows" test "$(summary groups.json "['result']['windows']")" = 2
  done
  check "a group for each head" test "$(summary groups.json "['result']['head_groups']")" = 16
done
check "one for all" test "$(summary whole.json "['result']['head_groups']")" = 1
check "stages add up" python3 - <<'PY'
import json
stages = {stage["name"]: stage for stage in json.load(open("groups.json"))["stages"]}
for name in ("compute", "write"):
    assert stages[name]["wall_s"] >= 0 and stages[name]["busy_s"] >= 0, stages[name]
PY
tracks "$model" "$windows" --max-memory 1K --batch 2 -o other.npz
check "batches are of one window" same_files other.npz whole.npz
tracks "$model" "$windows" --max-memory 1K --head splice_junctions,contact_maps,rna_seq/1 --organism mouse -o groups.npz
tracks "$model" "$windows" --head splice_junctions,contact_maps,rna_seq/1 --organism mouse -o whole.npz
check "some heads" same_files groups.npz whole.npz

# Signals along the genome.
cat <(echo '>chr1') <(sed -n 2p "$windows") >genome.fa
printf 'chr1\t100\t300\n' >regions.bed
signals() { tracks "$model" --genome genome.fa --regions regions.bed --head atac/1,dnase/128,cage/1 "$@"; }
signals -o 'whole.{track}.bedgraph'
check "signals" rc_is 0
signals --max-memory 1K -o 'groups.{track}.bedgraph'
check "signals in groups" rc_is 0
for path in whole.*.bedgraph; do
  check "$path in groups" cmp <(tail -n +2 "$path") <(tail -n +2 "groups${path#whole}")
done
check "have a file each" test "$(echo groups.*.bedgraph | wc -w)" = 12

# What needs all of a window takes it as a whole.
run infer tracks --device cpu --model "$model" --max-memory 1K --resume --json other.json "$windows" -o other.npz
check "resumable" rc_is 0
check "is told" err_has "bytes of results of a window are held at once, as --resume and --strands both need them"
check "one group" test "$(summary other.json "['result']['head_groups']")" = 1
# The bytes that it names are those of the arrays, where junctions are between as many sites as there may be.
cp -r "$model" all_sites
python3 - "$model/model.safetensors" all_sites/model.safetensors <<'PY'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack("<Q", data[:8])[0]
for name, tensor in json.loads(data[8:8 + size]).items():
    if name.startswith("splice_sites_classification_head."):  # all classes have the same probability
        begin, end = (8 + size + offset for offset in tensor["data_offsets"])
        data[begin:end] = bytes(end - begin)
open(sys.argv[2], "wb").write(data)
PY
run infer tracks --device cpu --model all_sites --max-memory 1K --resume --head splice_junctions,dnase/1,contact_maps "$windows" -o other.npz
check "all sites" rc_is 0
check "have the bytes that are named" python3 - <<'PY'
import re, zipfile
told = int(re.search(r"(\d+) bytes of results", open("err.txt").read())[1])
found = 0
for entry in zipfile.ZipFile("other.npz").infolist():
    if entry.filename.startswith(zipfile.ZipFile("other.npz").namelist()[0].split("/")[0] + "/"):
        with zipfile.ZipFile("other.npz").open(entry) as file:
            header = file.read(10)
            found += entry.file_size - 10 - int.from_bytes(header[8:10], "little")
if told != found: raise SystemExit(f"{told} bytes are named, {found} are written")
PY
heads=atac/1,cage/1,rna_seq/1
tracks "$model" "$windows" --max-memory 1K --strands both --head $heads -o other.npz
check "both strands" rc_is 0
tracks "$model" "$windows" --strands both --head $heads -o whole.npz
check "have the same bytes" same_files other.npz whole.npz

# A number that is not finite is told with its window, in any group.
cp -r "$model" broken
python3 - "$model/model.safetensors" broken/model.safetensors <<'PY'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack("<Q", data[:8])[0]
begin = 8 + size + json.loads(data[8:8 + size])["heads.rna_seq.track_means"]["data_offsets"][0]
data[begin:begin + 4] = struct.pack("<f", 3e38)
open(sys.argv[2], "wb").write(data)
PY
tracks broken "$windows" --max-memory 1K -o no.npz
check "not finite" err_has "windows.fa: record 1 (one): the result is NaN or infinite"
check "and no file" absent no.npz

# Memory of the host: 98 MB of tracks, a third of them a head.
python3 "$source_dir/tests/support/many_tracks.py" "$model" many 500 16384 || exit 1
python3 -c "
import random
print('>one', ''.join(random.Random(1).choices('ACGT', k=16384)), '>two', ''.join(random.Random(2).choices('ACGT', k=16384)), sep='\n')" >long.fa
heads=atac/1,cage/1,rna_seq/1
tracks many long.fa --head atac/1 --tracks 0 --json base.json -o base.npz
check "one track" rc_is 0
tracks many long.fa --head $heads --json whole.json -o whole.npz
check "all tracks" rc_is 0
tracks many long.fa --head $heads --max-memory 66M --json groups.json -o groups.npz
check "all tracks in groups" rc_is 0
check "have the same bytes" same_files groups.npz whole.npz
check "a head each" test "$(summary groups.json "['result']['head_groups']")" = 3
peak() { summary "$1" "['memory']['peak_rss_bytes']"; }
# Two groups of 33 MB that were fetched, and on a CPU the pass's own.
if ! is_sanitized; then
  base=$(peak base.json) whole=$(peak whole.json) groups=$(peak groups.json)
  check "whole windows take $((whole - base)) bytes more" test $((whole - base)) -gt 180000000
  check "groups $((groups - base))" test $((groups - base)) -lt $((66 * 1024 * 1024 + 33000000 + 16000000))
fi
rm -f whole.npz groups.npz

finish
