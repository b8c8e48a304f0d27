#!/usr/bin/env bash
# `biogpu infer mutagenesis`: tables, arrays, the largest change, logos, resuming, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/enformer_tiny
cp "$model/genome.fa" .
mutagenesis() { run infer mutagenesis -q --device cpu --model "$model" --genome genome.fa "$@"; }

# The scores of `variants` in the same window: pieces of 80 bases from base 1,040 on have their middle at 1,080.
mutagenesis --head human --region chr1:1041-1120 -o table.tsv
check "a table" rc_is 0
check "three lines a position and track" n_lines_is table.tsv $((1 + 80 * 3 * 7))
python3 - <<'PY'
letters = "".join(line.strip() for line in open("genome.fa").read().split(">chr2")[0].split("\n")[1:])
with open("all.vcf", "w") as vcf:
    vcf.write("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
    for at in range(1040, 1120):
        others = ",".join(c for c in "ACGT" if c != letters[at])
        vcf.write(f"chr1\t{at + 1}\t.\t{letters[at]}\t{others}\t.\t.\t.\n")
PY
run infer variants -q --device cpu --model "$model" --genome genome.fa --head human --grid 80 all.vcf
check "the scores of variants" cmp <(cut -f 2-5,8-9 table.tsv) <(cut -f 1,2,4,5,8-9 out.txt)

# Arrays, the largest change and the logo are made of the same numbers.
mutagenesis --head human --tracks 2,4 --region chr1:1041-1120 -o two.tsv
mutagenesis --head human --tracks 2,4 --region chr1:1041-1120 -o two.safetensors --max max.bedgraph --logo logo.svg
check "arrays" rc_is 0
check "equal" python3 - <<'PY'
import csv, json, re, struct
with open("two.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    entry = header["chr1:1041-1120"]
    assert entry["shape"] == [80, 4, 2], entry
    values = struct.unpack(f"<{80 * 4 * 2}f", file.read())
rows = list(csv.DictReader(open("two.tsv"), delimiter="\t"))
assert len(rows) == 80 * 3 * 2
means, seen, refs = {}, set(), {}
for row in rows:
    at, letter, track = int(row["pos"]) - 1041, "ACGT".index(row["alt"]), ["2", "4"].index(row["track"])
    value = values[(at * 4 + letter) * 2 + track]
    assert abs(value - float(row["value"])) <= 1e-5 * abs(value)
    seen.add((at * 4 + letter) * 2 + track)
    means.setdefault(at, {}).setdefault(letter, []).append(value)
    refs[at] = row["ref"]
assert all(v == 0 for i, v in enumerate(values) if i not in seen) and len(seen) == 480
largest = {at: max((sum(v) / 2 for v in by.values()), key=abs) for at, by in means.items()}
lines = [line.split() for line in open("max.bedgraph")]
assert len(lines) == 80
for chrom, begin, end, value in lines:
    assert int(end) == int(begin) + 1
    assert abs(float(value) - largest[int(begin) - 1040]) <= 1e-5 * abs(largest[int(begin) - 1040])
svg = open("logo.svg").read()
colors = {"A": "#109648", "C": "#255c99", "G": "#f7b32b", "T": "#d62839"}
drawn = re.findall(r'<path fill="(#\w+)" [^>]*scale\(\S+ (\S+)\)', svg)
heights = [-sum(sum(v) / 2 for v in means[at].values()) / 3 for at in range(80)]
assert [c for c, _ in drawn] == [colors[refs[at]] for at in range(80)]
scale = 120 / (max(heights + [0]) - min(heights + [0]))
assert all(abs(100 * float(h) - scale * heights[at]) < 0.01 for at, (_, h) in enumerate(drawn))
PY
check "SVG is XML" python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('logo.svg')"

# The picture adapts to its place; axes have their unit, tracks their names.
for i in 0 1 2 3 4 5 6; do printf '%s\tENC%s\tDNASE:liver & <%s>\n' "$i" "$i" "$i"; done | sed '1i index\tidentifier\tdescription' >targets.txt
mutagenesis --head human --targets targets.txt --tracks 2,4 --score SAR --region chr1:901-1120 -o rows.tsv --logo rows.svg
check "a logo of several rows" rc_is 0
check "axes, names, rows" python3 - <<'PY'
import re, xml.dom.minidom
svg = xml.dom.minidom.parse("rows.svg").documentElement
width, height = map(float, svg.getAttribute("viewBox").split()[2:])
assert not svg.hasAttribute("width") and "width:100%" in svg.getAttribute("style")
texts = [node.firstChild.data for node in svg.getElementsByTagName("text")]
assert texts.count("loss of SAR (log2)") == 3 and "position on chr1 (bases)" in texts, texts
assert "Track ENC2: DNASE:liver & <2>" in texts and "Track ENC4: DNASE:liver & <4>" in texts, texts
assert any("mean of 2 tracks" in text for text in texts), texts
assert [str(n) for n in range(910, 1121, 10)] == [text for text in texts if re.fullmatch("9.0|1...", text)], texts
letters = [node for node in svg.getElementsByTagName("path") if node.getAttribute("fill-rule")]
places = [tuple(map(float, re.search(r"translate\((\S+) (\S+)\)", node.getAttribute("transform")).groups())) for node in letters]
assert len(places) == 220 and max(x for x, _ in places) + 12 < width and max(y for _, y in places) < height
assert sum(x == places[0][0] for x, _ in places) == 3
PY

# Titles fit the picture, in any letters.
printf 'chr1\t1040\t1043\tenhancer <of> \xe9 & a name that is far too long for three letters\n' >long.bed
for tracks in 1 0-6; do
  mutagenesis --head human --tracks $tracks --regions long.bed -o long.tsv --logo long.svg
  check "a title that fits" python3 - $tracks <<'PY'
import sys, xml.dom.minidom
svg = xml.dom.minidom.parse("long.svg").documentElement
whole = svg.getElementsByTagName("title")[0].firstChild.data
texts = [node for node in svg.getElementsByTagName("text")]
assert whole == "enhancer <of> \\xe9 & a name that is far too long for three letters", whole
shown = texts[0].firstChild.data
assert shown.endswith("...") and whole.startswith(shown[:-3]), shown
width = float(svg.getAttribute("viewBox").split()[2])
assert float(texts[0].getAttribute("x")) + 7 * len(shown) < width, (shown, width)
rest = [node.firstChild.data for node in texts]
assert ("Track 1" in rest) if sys.argv[1] == "1" else ("and 3 more tracks" in rest), rest
assert "1043" in rest and "loss of SAD (track units)" in rest, rest
PY
done

# The same for any batch, without reuse, and where it was cut short.
for options in --no-reuse "--kept-memory 60K" "--batch 3" "-t 1"; do
  # shellcheck disable=SC2086
  mutagenesis --head human --region chr1:1041-1120 $options -o other.tsv
  check "the same with $options" same_files other.tsv table.tsv
done
mutagenesis --head human --region chr1:1041-1120 --resume -o resumed.tsv
check "with --resume" same_files resumed.tsv table.tsv
check "nothing is left" absent resumed.tsv.partial

# Several regions, letters that are none, and the end of a sequence.
{ echo ">chr1" && printf 'ACGTNNRY%.0s' $(seq 200) && echo; } >unknown.fa
printf 'chr1\t0\t8\tfirst\nchr1\t1592\t1600\n' >regions.bed
run infer mutagenesis -q --device cpu --model "$model" --genome unknown.fa --head human --tracks 0 --regions regions.bed -o some.tsv
check "regions" rc_is 0
check "letters that are none stay" n_lines_is some.tsv $((1 + 2 * 4 * 3))
check "keys" cmp <(tail -n +2 some.tsv | cut -f 1 | uniq) <(printf 'first\nchr1:1592-1600\n')

# Intervals that do not fit.
printf 'chr1\t1040\t1042\nchr1\t5\t1200\tlong\nchr7\t5\t6\nchr2\t250\t252\n' >mixed.bed
mutagenesis --head human --tracks 0 --regions mixed.bed -o no.tsv
check "a bad interval is refused" rc_is 3
check "and no file" absent no.tsv
mutagenesis --head human --tracks 0 --skip-bad --regions mixed.bed -o skipped.tsv
check "or skipped" rc_is 3
check "and counted" err_has "mixed.bed: skipped: 2 records that do not fit; the output has the others"
sed '2d;3d' mixed.bed >good.bed
mutagenesis --head human --tracks 0 --regions good.bed -o good.tsv
check "all that fit" rc_is 0
check "the others are there" same_files skipped.tsv good.tsv
mutagenesis --head human --tracks 0 --skip-bad --region chr1:1-1100 -o no.tsv
check "a region of the command line is refused" err_has "1100 letters; a window of the model has 1024"

mutagenesis --head human
check "no region" rc_is 2
: >empty.bed
mutagenesis --head human --tracks 0 --regions empty.bed -o empty.tsv
check "a file without regions" rc_is 0
check "gives the header of the table" n_lines_is empty.tsv 1
check "and a warning" err_has "warning: there is no region; the output is empty"
mutagenesis --region chr1:1-1100
check "a region longer than a window" err_has "1100 letters; a window of the model has 1024"
mutagenesis --region chr1:1-5 --region chr1:11-15 --logo two.svg
check "a logo of two regions" rc_is 2
mutagenesis --region chr1:1-5 --region chr1:5-15 --max two.bedgraph
check "regions that overlap" rc_is 3
mutagenesis --region chr1:1-5 --max max.txt
check "no such signal" rc_is 2
mutagenesis --region chr1:1-5 --logo logo.png
check "no such logo" rc_is 2

finish
