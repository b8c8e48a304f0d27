#!/usr/bin/env bash
# AlphaGenome in `biogpu infer`: organisms, tables of tracks, padding, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/alphagenome_tiny
windows=$model/windows.fa
same=$source_dir/tests/support/same_tensors.py
python3 "$source_dir/tests/support/alphagenome_folders.py" "$model" || exit 1
# tracks FOLDER ARGUMENTS...
tracks() { run infer tracks -q --device cpu --model "$1" "${@:2}" "$windows"; }

# Both organisms and both forms of GELU, as the program in double precision has them.
expected="$model/expected.safetensors"
tracks "$model" --organism mouse -o mouse.safetensors
check "mouse" rc_is 0
check "the program's" python3 "$same" mouse.safetensors "$expected" 1e-4 one/atac/1=one/tanh/1/atac/1 \
  two/rna_seq/128=two/tanh/1/rna_seq/128 one/contact_maps=one/tanh/1/contact_maps
tracks "$model" --organism human --pair-gelu erf -o erf.safetensors
check "erf" python3 "$same" erf.safetensors "$expected" 1e-4 one/atac/1=one/erf/0/atac/1 one/contact_maps=one/erf/0/contact_maps
tracks "$model" -o human.safetensors
tracks "$model" --organism human --pair-gelu tanh -o other.safetensors
check "the first organism and tanh are the defaults" same_files human.safetensors other.safetensors

# Contact maps and embeddings of pairs keep both axes; on the other strand both are turned round.
run infer embed -q --device cpu --model "$model" "$windows" -o embedded.safetensors
check "embeddings" python3 "$same" embedded.safetensors "$expected" 1e-4 one/pair=one/tanh/0/embedding/pair
tracks "$model" --strands both --head contact_maps -o both.safetensors
sed 's/^>/>r/' "$windows" | awk '/^>/ { print; next } { print | "rev | tr ACGTacgt TGCAtgca"; close("rev | tr ACGTacgt TGCAtgca") }' >reverse.fa
run infer tracks -q --device cpu --model "$model" --head contact_maps reverse.fa -o reverse.safetensors
check "the mean of both strands" python3 - <<'PY'
import json, struct
def read(path, name):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    assert entry["shape"] == [8, 8, 3]
    values = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size:][begin:end])
    return [values[3 * i:3 * i + 3] for i in range(64)]
both, forward = read("both.safetensors", "one"), read("human.safetensors", "one/contact_maps")
for mean, a, b in zip(both, forward, reversed(read("reverse.safetensors", "rone"))):
    assert all(abs(m - (x + y) / 2) <= 1e-6 * (1 + abs(m)) for m, x, y in zip(mean, a, b))
PY

run infer tracks -v --device cpu --model "$model" --organism mouse --json summary.json "$windows" -o other.safetensors
check "the choices in the log" err_has "organism mouse"
check "and in the summary" python3 -c "
import json
model = json.load(open('summary.json'))['result']['model']
assert model['organism'] == 'mouse' and model['pair_gelu'] == 'tanh', model"
works infer info "$model"
check "info" out_has "^organisms	2 (human, mouse)"

# Folders with other numbers of organisms, and without factors of tracks.
tracks mouse -o other.safetensors
check "one organism" same_files mouse.safetensors other.safetensors
tracks mouse --organism mouse -o other.safetensors
check "by its name" same_files mouse.safetensors other.safetensors
tracks mouse --organism human
check "no such organism" err_has "^biogpu infer: --organism human: mouse/config.json has mouse$"
tracks three --organism mouse -o other.safetensors
check "the third of three" same_files mouse.safetensors other.safetensors
tracks silent -o silent.safetensors
tracks none -o other.safetensors
check "no organisms" same_files silent.safetensors other.safetensors
tracks none --organism mouse
check "one organism that is none" rc_is 2
tracks ones -o ones.safetensors
tracks plain -o other.safetensors
check "no factors of tracks are factors of 1" same_files ones.safetensors other.safetensors

# With a table, columns that stand for no track are left out.
shapes() { python3 -c "
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
header = json.loads(data[8:8 + struct.unpack('<Q', data[:8])[0]])
print(*(f'{name[4:]}:{header[name][\"shape\"][-1]}' for name in sorted(header) if name.startswith('one/')))" "$1"; }
tracks tables -o tables.safetensors
check "real columns" [ "$(shapes tables.safetensors)" = "atac/1:3 atac/128:3 cage/1:4 cage/128:4 chip_histone/128:3 chip_tf/128:7 \
contact_maps:3 dnase/1:3 dnase/128:3 procap/1:2 procap/128:2 rna_seq/1:4 rna_seq/128:4 splice_junctions:4 \
splice_junctions_positions:512 splice_site_usage:6 splice_sites:4" ]
tracks tables --all-columns -o other.safetensors
check "all columns" same_files human.safetensors other.safetensors
tracks tables --organism mouse -o other.safetensors
check "a head without tracks is left out" [ "$(shapes other.safetensors | tr ' ' '\n' | grep -c procap)" = 0 ]
tracks tables --organism mouse --head procap/1
check "and refused by name" err_has "--head procap/1: all its columns are padding in tracks_mouse.tsv; --all-columns takes them"
tracks tables --organism mouse --head procap/1 --all-columns -o other.tsv
check "unless its padding is asked for" rc_is 0

# Tracks by name, strand, ontology term, assay and pattern.
tracks tables --head cage/1 -o cage.tsv
for selection in 1,3 'CL:0000001' 'cage 1' '* 1*' 'cage 1 (+),cage 1 (-)'; do
  tracks tables --head cage/1 --tracks "$selection"
  check "tracks $selection" cmp out.txt <(cut -f 1,2,4,6 cage.tsv)
done
tracks tables --head cage/1 --tracks 'ASSAY OF CAGE'
check "an assay" same_files out.txt cage.tsv
tracks tables --head atac/1 --tracks '*' -o other.tsv
check "patterns match no padding" awk -F '\t' 'NF != 5 { exit 1 }' other.tsv
tracks tables --head atac/1 --tracks 2-3
check "nor do numbers" err_has "--tracks: '2-3': column 3 of tables/tracks_human.tsv is padding; --all-columns takes it"
tracks tables --head atac/1 --tracks Padding
check "nor its name" rc_is 2
tracks tables --head atac/1 --tracks 2-3 --all-columns
check "with all columns they do" rc_is 0

# Strands are exchanged by the table.
tracks tables --strands both --head cage/1 -o both.tsv
run infer tracks -q --device cpu --model tables --strands both --head cage/1 reverse.fa -o reverse.tsv
check "the reverse complement gives the other strand's" cmp <(grep '^one' both.tsv | cut -f 3-6) \
  <(grep '^rone' reverse.tsv | sort -k 2,2nr | awk -F '\t' -v OFS='\t' '{ print $5, $6, $3, $4 }')

# Splice junctions: arrays with their sites, and as text the same numbers at their places in the genome.
cat <(echo '>chr1') <(head -c 40 /dev/zero | tr '\0' A; sed -n 2p "$windows") | tr -d '\n' | sed 's/>chr1/&\n/; s/$/\n/' >genome.fa
run infer tracks -q --device cpu --model tables --head splice_junctions --genome genome.fa --region chr1:41-1064 -o junctions.tsv
check "junctions of a genome" rc_is 0
tracks tables --head splice_junctions -o junctions.safetensors
run infer tracks -q --device cpu --model tables --head splice_junctions --tracks '*(+)' --genome genome.fa --region chr1:41-1064 -o plus.tsv
check "the text's numbers are the array's" python3 - <<'PY'
import json, struct
data = open("junctions.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
def read(name):
    begin, end = header[name]["data_offsets"]
    return header[name]["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[8 + size:][begin:end])
(donors, acceptors, columns), counts = read("one/splice_junctions")
(_, n), sites = read("one/splice_junctions_positions")
assert columns == 4, columns
lines = [line.rstrip("\n").split("\t") for line in open("junctions.tsv")]
assert lines[0] == ["chrom", "start", "end", "strand", "splice_junctions 0", "splice_junctions 1"], lines[0]
right = {}
for strand, (donor, acceptor) in enumerate(((0, 1), (2, 3))):
    for i in range(donors):
        for k in range(acceptors):
            d, a = int(sites[donor * n + i]), int(sites[acceptor * n + k])
            row = (i * acceptors + k) * columns
            if d < 0 or a < 0:
                assert counts[row + 2 * strand:row + 2 * strand + 2] == (0, 0)
                continue
            start, end = (d + 1, a) if strand == 0 else (a + 1, d)
            if start < end:
                right[start + 40, end + 40, "+-"[strand]] = counts[row + 2 * strand:row + 2 * strand + 2]
assert len(right) == len(lines) - 1 > 1000
places = [(int(line[1]), int(line[2]), line[3]) for line in lines[1:]]
assert places == sorted(places)
for line, place in zip(lines[1:], places):
    assert line[0] == "chr1"
    for got, number in zip(map(float, line[4:]), right[place]):
        assert abs(got - number) <= 1e-6 * number, (place, got, number)
plus = [line.rstrip("\n").split("\t") for line in open("plus.tsv")]
assert all((line[4] == ".") == (line[3] == "-") for line in plus[1:])
PY
cp -r tables siteless
python3 - "$model/model.safetensors" siteless/model.safetensors <<'PY'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack("<Q", data[:8])[0]
begin = 8 + size + json.loads(data[8:8 + size])["splice_sites_classification_head.conv.bias"]["data_offsets"][0]
data[begin:begin + 20] = struct.pack("<5f", -60, -60, -60, -60, 60)
open(sys.argv[2], "wb").write(data)
PY
tracks siteless --head splice_junctions
check "no sites: no junctions" out_is 'chrom\tstart\tend\tstrand\tsplice_junctions 0\tsplice_junctions 1\n'
for format in npz h5 safetensors; do
  tracks siteless --head splice_junctions,splice_sites -o "siteless.$format"
  check "empty arrays as $format" rc_is 0
done
tracks tables --head splice_junctions --strands both
check "no mean of both strands" err_has "the head splice_junctions has other splice sites on the other strand"
run infer variants -q --device cpu --model tables --head splice_junctions --genome genome.fa /dev/null -o -
check "no scores by bins" rc_is 2

# DNase of the reverse complement is shifted by a base, in tracks and in sums.
tracks "$model" --head dnase/1 -o forward.tsv
run infer tracks -q --device cpu --model "$model" --head dnase/1 reverse.fa -o reverse.tsv
tracks "$model" --head dnase/1 --strands both -o both.tsv
tail -c 1025 genome.fa | sed '1s/^/>chr1\n/' >window.fa
printf '##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n' >one.vcf
letter=$(sed -n 2p window.fa | cut -c 513)
printf 'chr1\t513\tv\t%s\t%s\t.\t.\t.\n' "$letter" "$([ "$letter" = A ] && echo C || echo A)" >>one.vcf
run infer variants -q --device cpu --model "$model" --genome window.fa --head dnase/1 --scores REF --bins all --strands both one.vcf -o sums.tsv
check "sums of both strands" rc_is 0
check "DNase of both strands" python3 - <<'PY'
def read(path, key):
    return [list(map(float, line.split("\t")[2:])) for line in open(path) if line.startswith(key + "\t")]
forward, reverse, both = read("forward.tsv", "one"), read("reverse.tsv", "rone"), read("both.tsv", "one")
shifted = [[0, 0, 0], *reverse[:0:-1]]
for mean, a, b in zip(both, forward, shifted):
    assert all(abs(m - (x + y) / 2) <= 2e-6 * m for m, x, y in zip(mean, a, b)), (mean, a, b)
lines = [line.rstrip("\n").split("\t") for line in open("sums.tsv")]
assert len(lines) == 4 and lines[0][-1] == "value"
for track, line in enumerate(lines[1:]):
    right = sum(row[track] for row in both) / len(both)
    assert abs(float(line[-1]) - right) <= 1e-5 * right, (line, right)
PY

# A resumed run reads the table that the first one read, and no output takes its place.
sed -n 1,2p "$windows" >short.fa
printf '>two\nACGT\n' >>short.fa
cp -r tables edited && chmod -R u+w edited
resumed() { run infer tracks -q --device cpu --model edited --head cage/1 --batch 1 --resume short.fa -o resumed.tsv; }
resumed
check "cut short" exists resumed.tsv.partial
resumed
check "goes on" rc_is 3
sed -i 's/^cage\t2\tcage/cage\t2\tCAGE/' edited/tracks_human.tsv
resumed
check "not with another table" rc_is 1
check "says so" err_has "resumed.tsv.partial: is of a run with other inputs, model or options"
for output in tracks_human.tsv targets_mouse.txt; do
  cp tables/tracks_human.tsv "edited/$output"
  tracks edited --head cage/1 -o "edited/$output"
  check "$output is no output" rc_is 2
  check "$output is what it was" same_files tables/tracks_human.tsv "edited/$output"
done

# Tables that do not fit.
grep -v '^cage	3' tables/tracks_human.tsv >short.tsv
tracks tables --head cage/1 --targets short.tsv
check "another number of columns" err_has "short.tsv: has 3 tracks; the head cage/1 has 4"
tracks tables --head cage/1 --strands both --targets <(sed '/^cage	3/s/-/./' tables/tracks_human.tsv)
check "strands that are no pairs" err_has "the head 'cage' has not as many tracks of + as of -"
grep -v '^cage' tables/tracks_human.tsv >tables/tracks_mouse.tsv
tracks tables --organism mouse
check "no line of a head" err_has "tracks_mouse.tsv: has no line of the head 'cage'"
other=$source_dir/tests/data/models/enformer_tiny
run infer tracks -q --device cpu --model "$other" --organism mouse "$other/windows.fa"
check "other models have no organisms" rc_is 2

finish
