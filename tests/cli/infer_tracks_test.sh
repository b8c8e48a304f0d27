#!/usr/bin/env bash
# `biogpu infer tracks`: windows of files and of a genome, heads and tracks, output formats, resuming, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/enformer_tiny
windows=$model/windows.fa
same=$source_dir/tests/support/same_tensors.py
tracks() { run infer tracks -q --device cpu --model "$model" "$@"; }

# Both windows and heads, as enformer-pytorch computes them in double precision.
tracks "$windows" -o all.safetensors
check "both heads" rc_is 0
check "equal to enformer-pytorch" python3 "$same" all.safetensors "$model/expected.safetensors" 5e-5 \
  one/human=one/heads/human one/mouse=one/heads/mouse two/human=two/heads/human two/mouse=two/heads/mouse
tracks --gamma positions --head human "$windows" -o positions.safetensors
check "gamma over positions, one head under the window's name" python3 "$same" positions.safetensors \
  "$model/expected.safetensors" 5e-5 one=positions/heads/human
run infer tracks -v --device cpu --model "$model" --gamma positions --json summary.json "$windows" -o positions.safetensors
check "the form of gamma in the log" err_has "gamma positions"
check "and in the summary" python3 -c "
import json
assert json.load(open('summary.json'))['result']['model']['gamma'] == 'positions'"
check "no warning of a form that was chosen" bash -c '! grep -q "gamma features" err.txt'
works infer info "$model"
check "info" out_has "^bins	16 of 16 bases, from base 384"

# The same numbers for any batch, any number of threads, from a pipe.
tracks --head human "$windows" -o human.tsv
check "rows of both windows" n_lines_is human.tsv 32
for options in "--batch 1" "-t 1" "--batch 2 -t 2"; do
  # shellcheck disable=SC2086
  tracks $options --head human "$windows" -o other.tsv
  check "the same with $options" same_files other.tsv human.tsv
done
"$biogpu" infer tracks -q --device cpu --model "$model" --head human <"$windows" >piped.tsv
check "the same from a pipe" same_files piped.tsv human.tsv

# Tracks by number, identifier, group and pattern.
tracks --head human --tracks 3,0-1 "$windows"
check "by number" cmp <(cut -f 1,2,4,5 out.txt) <(cut -f 1-4 human.tsv)
check "in the order asked for" cmp <(cut -f 3 out.txt) <(cut -f 6 human.tsv)
cp -r "$model" named
printf 'index\tidentifier\tdescription\n' >named/targets_human.txt
for i in 0 1 2 3 4 5 6; do
  printf '%s\tTRACK%s\t%s:tissue %s\n' $i $i "$([ $i -lt 2 ] && echo DNASE || echo CHIP)" $i
done >>named/targets_human.txt
for tracks in DNASE TRACK0,TRACK1 '*tissue 0,*tissue 1'; do
  run infer tracks -q --device cpu --model named --head human --tracks "$tracks" "$windows"
  check "tracks $tracks" cmp out.txt <(cut -f 1-4 human.tsv)
done
run infer tracks -q --device cpu --model named --head human --tracks liver "$windows"
check "no such track" rc_is 2
tracks --tracks 1 "$windows"
check "tracks of two heads" err_has "choose it with --head: human, mouse"
tracks --head rat "$windows"
check "no such head" err_has "the model has human, mouse"

# Both strands: the mean is that of the reverse complement, with its bins turned round.
sed -n 2p "$windows" | rev | tr ACGT TGCA >reverse.txt
{ echo ">reverse" && cat reverse.txt; } >reverse.fa
head -2 "$windows" >one.fa
tracks --head human --strands both one.fa -o both.tsv
tracks --head human --strands both reverse.fa -o reverse.tsv
check "both strands" cmp <(cut -f 3- both.tsv) <(tac reverse.tsv | cut -f 3-)
check "are not one strand" bash -c '! cmp -s <(head -16 human.tsv) both.tsv'

# Tracks of one strand are averaged with those of the other: strand_pair of the table.
cp -r named stranded
awk -F '\t' 'BEGIN { OFS = FS } { print $0, NR == 1 ? "strand_pair" : ($1 == 2 ? 5 : $1 == 5 ? 2 : $1) }' \
  named/targets_human.txt >stranded/targets_human.txt
run infer tracks -q --device cpu --model stranded --head human --strands both one.fa -o pairs.tsv
check "stranded tracks" rc_is 0
tracks --head human reverse.fa -o other.tsv
check "their partners are exchanged" python3 - <<'PY'
rows = lambda path: [[float(x) for x in line.split("\t")[2:]] for line in open(path)][:16]
forward, other, both, pairs = map(rows, ("human.tsv", "other.tsv", "both.tsv", "pairs.tsv"))
partner = [0, 1, 5, 3, 4, 2, 6]
close = lambda a, b: abs(a - b) <= 1e-5 * abs(b)
for i in range(16):
    for t in range(7):
        assert close(both[i][t], (forward[i][t] + other[15 - i][t]) / 2), (i, t)
        assert close(pairs[i][t], (forward[i][t] + other[15 - i][partner[t]]) / 2), (i, t)
assert not close(pairs[0][2], both[0][2])
PY
run infer tracks -q --device cpu --model stranded --head human --strands both --tracks 4,2 one.fa
check "a partner that is not asked for" cmp <(cut -f 3,4 out.txt) <(awk -F '\t' '{ print $7 "\t" $5 }' pairs.tsv)
check "is not in the output" cmp <(cut -f 5 out.txt | sort -u) <(echo)
run infer tracks -q --device cpu --model stranded --head human one.fa
check "one strand has no pairs" cmp out.txt <(head -16 human.tsv)

# Regions of a genome: the same as their letters in a file, N beyond the ends of a contig.
{ echo ">chr1" && sed -n 2p "$windows" | fold -w 60; } >genome.fa
printf 'chr1\t500\t524\tmiddle\nchr1\t0\t8\n' >regions.bed
tracks --head human --genome genome.fa --regions regions.bed -o regions.tsv
check "regions" rc_is 0
check "the region in the middle is the window" cmp <(head -16 regions.tsv | cut -f 3-) <(head -16 human.tsv | cut -f 3-)
check "keys" cmp <(cut -f 1 regions.tsv | uniq) <(printf 'middle\nchr1:0-8\n')
{ echo ">left" && printf 'N%.0s' $(seq 508) && sed -n 2p "$windows" | cut -c 1-516; } >left.fa
tracks --head human left.fa -o left.tsv
check "N beyond the end" cmp <(tail -16 regions.tsv | cut -f 3-) <(cut -f 3- left.tsv)
tracks --head human --genome genome.fa --region chr1:501-524 -o region.tsv
check "--region" cmp <(cut -f 3- region.tsv) <(head -16 regions.tsv | cut -f 3-)

# One track along the genome.
tracks --head human --tracks 2 --genome genome.fa --region chr1:501-524 -o signal.bedgraph
check "bedGraph" rc_is 0
seq 0 15 | awk '{ printf "chr1\t%d\t%d\n", 384 + 16 * $1, 400 + 16 * $1 }' >bins
check "bins" cmp <(grep -v "^track" signal.bedgraph | cut -f 1-3) bins
check "values" python3 -c "
got = [float(line.split()[3]) for line in open('signal.bedgraph') if line.startswith('chr1')]
right = [float(line.split()[4]) for line in open('human.tsv')][:16]
assert len(got) == 16 and all(abs(x - y) < 1e-6 * y for x, y in zip(got, right))"
tracks --head human --tracks 2,3 --genome genome.fa --region chr1:501-524 -o no.bedgraph
check "one track alone" err_has "holds one track"
check "and no file" absent no.bedgraph
tracks --head human --tracks 2 "$windows" -o no.bedgraph
check "of a genome" rc_is 2
# A head that has one track: the mouse's, cut to its first.
python3 - "$model" single <<'EOF' || exit 1
import json, pathlib, struct, sys
source, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir()
config = json.loads((source / "config.json").read_text())
config["output_heads"]["mouse"] = 1
(folder / "config.json").write_text(json.dumps(config))
stored = (source / "model.safetensors").read_bytes()
n = struct.unpack("<Q", stored[:8])[0]
header, data, out = json.loads(stored[8:8 + n]), stored[8 + n:], b""
for name, tensor in header.items():
    if name == "__metadata__":
        continue
    begin, end = tensor["data_offsets"]
    if name.startswith("_heads.mouse"):
        end = begin + (end - begin) // tensor["shape"][0]
        tensor["shape"][0] = 1
    tensor["data_offsets"] = [len(out), len(out) + end - begin]
    out += data[begin:end]
text = json.dumps(header).encode()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + out)
EOF
tracks --head mouse --tracks 0 --genome genome.fa --region chr1:501-524 -o first.bedgraph
run infer tracks -q --device cpu --model single --head mouse --genome genome.fa --region chr1:501-524 -o whole.bedgraph
check "a head of one track" rc_is 0
check "is that track" cmp <(grep -v "^track" first.bedgraph) <(grep -v "^track" whole.bedgraph)
run infer tracks -q --device cpu --model single --genome genome.fa --region chr1:501-524 -o no.bedgraph
check "one head alone" err_has "holds one track"
tracks --head human --tracks 2 --genome genome.fa --region chr1:501-524 --region chr1:509-532 -o no.bedgraph
check "bins that overlap" rc_is 3
check "with both regions" err_has "--region chr1:509-532: its bins overlap those of --region chr1:501-524 at chr1:"
check "and no file" absent no.bedgraph
printf '#\nchr1\t500\t524\tfirst\nchr1\t508\t532\tsecond\n' >overlap.bed
tracks --head human --tracks 2 --genome genome.fa --regions overlap.bed -o no.bedgraph
check "and with file and lines" err_has "overlap.bed: line 3 (second): its bins overlap those of overlap.bed: line 2 (first) at chr1:"
tracks --head human --tracks 2 "$windows" -o no.bw
check "what it needs" err_has "need --genome with --regions or --region"
tracks --head human --tracks 3, "$windows"
check "a stray comma" err_has "empty item"
check "is no selection" rc_is 2
tracks --head human --tracks 2 --genome genome.fa --region chr1:501-524 -o signal.bw --json signal.json
if grep -q "no libBigWig" err.txt; then
  check "bigWig without its library" rc_is 2
  check "and no file" absent signal.bw
else
  check "bigWig" rc_is 0
  # Magic numbers at both ends, and what the summary says: letters, least, most and sum.
  check "the values of the bedGraph" python3 - <<'EOF'
import struct
file = open("signal.bw", "rb").read()
assert file[:4] == file[-4:] == struct.pack("<I", 0x888FFC26)
at, = struct.unpack_from("<Q", file, 44)
letters, least, most, total = struct.unpack_from("<Qddd", file, at)
values = [float(line.split()[3]) for line in open("signal.bedgraph") if line.startswith("chr1")]
assert letters == 16 * len(values) == 256
for got, right in (least, min(values)), (most, max(values)), (total, 16 * sum(values)):
    assert abs(got - right) <= 1e-5 * abs(right), (got, right)
EOF
  check "its bytes in the summary" grep -q "\"bytes\": *$(stat -c %s signal.bw)\b" signal.json
  # A copy of the program without the module that has libBigWig, and with a broken one. A copied script would run the same program.
  if [ "$(head -c 2 "$biogpu")" != '#!' ]; then
    mkdir alone && cp "$biogpu" alone/biogpu
    for module in missing broken; do
      [ $module = missing ] || echo "no library" >alone/libbiogpu_bigwig.so
      alone/biogpu infer tracks -q --device cpu --model "$model" --head human --tracks 2 --genome genome.fa \
        --region chr1:501-524 -o none.bw 2>err.txt && rc=0 || rc=$?
      check "bigWig with a $module module" test "$rc" = 2
      check "in one line" test "$(wc -l <err.txt)" = 1
      check "and no file" absent none.bw
    done
    # A program that the shell finds takes no module from the current folder.
    rm alone/libbiogpu_bigwig.so
    mkdir biogpu && echo "no library" | tee biogpu/libbiogpu_bigwig.so >libbiogpu_bigwig.so
    PATH=$PWD/alone:$PATH biogpu infer tracks -q --device cpu --model "$model" --head human --tracks 2 --genome genome.fa \
      --region chr1:501-524 -o none.bw 2>planted.txt && rc=0 || rc=$?
    check "bigWig with a module in the current folder" test "$rc" = 2
    check "which is not opened" bash -c '! grep -q "cannot load" planted.txt'
    check "why a module cannot be loaded" err_has "none.bw: cannot load libBigWig: .*; write .bedgraph"
  fi
fi

# Other lengths, letters, empty input.
{ echo ">short" && sed -n 2p "$windows" | cut -c 1-900; } >short.fa
tracks short.fa
check "another length is refused" rc_is 3
check "with both lengths" err_has "900.*1,\?024"
tracks --fit centre --head human short.fa
check "or padded" rc_is 0
{ echo ">bad" && sed -n 2p "$windows" | tr A '@'; } >bad.fa
tracks bad.fa
check "a letter that is none" rc_is 3
tracks --n-value 0.25 --head human "$windows" -o quarter.tsv
check "the value of N counts" bash -c '! cmp -s quarter.tsv human.tsv && cmp -s <(head -16 quarter.tsv) <(head -16 human.tsv)'
: >empty.fa
run infer tracks --device cpu --model "$model" empty.fa -o empty.npz
check "empty input" rc_is 0
check "with a warning" err_has "no window"

# Records that do not fit are left out with --skip-bad, and counted.
{ echo ">protein" && sed -n 2p "$windows" | tr A E; } >protein.fa
{ head -2 "$windows" && cat protein.fa short.fa && tail -n +3 "$windows"; } >mixed.fa
tracks --head human mixed.fa -o no.tsv
check "a bad record is refused" rc_is 3
check "with file and record" err_has "mixed.fa: record 2 ('protein'): 'E' at position"
check "and no file" absent no.tsv
tracks --head human --skip-bad --json skipped.json mixed.fa -o skipped.tsv
check "or skipped" rc_is 3
check "counted" err_has "mixed.fa: skipped: 2 records that do not fit; the output has the others"
check "the others are there" same_files skipped.tsv human.tsv
check "in the summary" python3 -c "
import json
result = json.load(open('skipped.json'))['result']
assert result['windows'] == 2 and result['skipped'] == {'records': 2}, result"
tracks --head human --skip-bad --resume mixed.fa -o resumed.tsv
check "with --resume" same_files resumed.tsv human.tsv
for i in 1 2; do tracks --head human --skip-bad --shard $i/2 mixed.fa -o $i.tsv; done
check "records of a shard are counted with bad ones" n_lines_is 1.tsv 16
cat 1.tsv 2.tsv >joined.tsv
check "shards with bad records" same_files joined.tsv human.tsv
tracks --head human --skip-bad "$windows"
check "nothing to skip" rc_is 0
gzip -c mixed.fa | head -c 1000 >damaged.fa.gz
tracks --head human --skip-bad bad.fa -o no.tsv
check "what is no letter is not skipped" rc_is 3
tracks --head human --skip-bad damaged.fa.gz -o no.tsv
check "a damaged file is not skipped" rc_is 3
check "and no file" absent no.tsv
printf 'chr1\t500\t524\tmiddle\nchr7\t5\t6\nchr1\t9\nchr1\t5\t99999\nchr1\t0\t8\n' >mixed.bed
tracks --head human --genome genome.fa --regions mixed.bed -o no.tsv
check "a bad interval is refused" err_has "mixed.bed: line 2: .*chr7"
tracks --head human --skip-bad --genome genome.fa --regions mixed.bed -o skipped.tsv
check "intervals skipped" err_has "mixed.bed: skipped: 3 records that do not fit"
check "the others are there" same_files skipped.tsv regions.tsv
tracks --head human --skip-bad --genome genome.fa --region chr7:5-6 -o no.tsv
check "a region of the command line is refused" rc_is 2
check "and no file" absent no.tsv

# What does not go together.
for options in "--regions regions.bed" "--genome genome.fa" "--genome genome.fa --regions regions.bed one.fa" \
  "--genome genome.fa --regions regions.bed --fit centre"; do
  # shellcheck disable=SC2086
  tracks $options
  check "refused: $options" rc_is 2
done
tracks --gamma tf-table "$windows"
check "no table of this size" err_has "tf-table, which is for 1536 positions"
run infer logits --model "$model" "$windows"
check "a task that the model does not have" rc_is 2
check "tells those it has" err_has "it offers tracks"
run infer tracks --model "$source_dir/tests/data/models/esm2_head16" "$windows"
check "a model that has no tracks" rc_is 2

# Embeddings of windows.
embed() { run infer embed -q --device cpu --model "$model" "$@"; }
embed "$windows" -o embedding.safetensors
check "embed" rc_is 0
check "embedding equal to enformer-pytorch" python3 "$same" embedding.safetensors "$model/expected.safetensors" 1e-4 \
  one=one/embedding
embed --genome genome.fa --regions regions.bed -o regions.tsv
embed one.fa -o one.tsv
check "embedding of a region" cmp <(head -16 regions.tsv | cut -f 3-) <(cut -f 3- one.tsv)
embed --strands both one.fa -o both.tsv
embed --strands both reverse.fa -o reverse.tsv
check "embedding of both strands" cmp <(cut -f 3- both.tsv) <(tac reverse.tsv | cut -f 3-)
for options in "--layers 1" "--include residues" "--truncate 5"; do
  # shellcheck disable=SC2086
  embed $options "$windows"
  check "refused: $options" rc_is 2
done
run infer embed --model "$source_dir/tests/data/models/esm2_head16" --strands both "$windows"
check "options of DNA for a model of proteins" err_has "ESM-2 has no --strands"

# A run that was cut short goes on.
for i in 1 2 3 4; do sed "s/^>/>$i/" "$windows"; done >many.fa
tracks --batch 1 --head human many.fa -o whole.tsv
tracks --batch 1 --head human --resume many.fa -o resumed.tsv
check "with --resume" same_files whole.tsv resumed.tsv
check "nothing is left" absent resumed.tsv.partial

finish
