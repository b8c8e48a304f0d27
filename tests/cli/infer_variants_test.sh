#!/usr/bin/env bash
# `biogpu infer variants`: scores of VCF and BCF, tables and annotated files, windows, reuse, resuming, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/enformer_tiny
same=$source_dir/tests/support/same_effects.py
cp "$model/genome.fa" "$model/variants.vcf" .
vcf=variants.vcf
variants() { run infer variants -q --device cpu --model "$model" --genome genome.fa "$@"; }
every="--head human --scores REF,ALT,SAD,SAR --bins all,centre"

# As enformer-pytorch predicts REF and ALT of windows made by another program.
for kind in forward both shifts; do
  options=$every
  [ $kind = both ] && options="$every --strands both"
  [ $kind = shifts ] && options="$every --shifts 0,-1,3"
  # shellcheck disable=SC2086
  variants $options $vcf -o $kind.tsv
  check "$kind" rc_is 0
  check "$kind: equal to enformer-pytorch" python3 "$same" $kind.tsv "$model/variants.tsv" $kind 2e-4
done
# shellcheck disable=SC2086
variants $every --reduce sum $vcf -o sum.tsv
check "sums over 16 bins" python3 "$same" sum.tsv "$model/variants.tsv" forward 2e-4 16

# The same bytes without reuse, for any batch, any number of threads, from a pipe.
for options in --no-reuse "--kept-memory 0" "--kept-memory 60K" "--batch 1" "--batch 3" "-t 1"; do
  # shellcheck disable=SC2086
  variants $every $options $vcf -o other.tsv
  check "the same with $options" same_files other.tsv forward.tsv
done
# shellcheck disable=SC2086
check "a word where nothing is reused" grep -q -- "--kept-memory of 1 bytes is less than the [0-9]* of one window" \
  <("$biogpu" infer variants --device cpu --model "$model" --genome genome.fa $every --kept-memory 1 $vcf -o one.tsv 2>&1)
# shellcheck disable=SC2086
"$biogpu" infer variants -q --device cpu --model "$model" --genome genome.fa $every <$vcf >piped.tsv
check "the same from a pipe" same_files piped.tsv forward.tsv

# Tables with a column a track; tracks of two heads and names of the folder's table.
# shellcheck disable=SC2086
variants $every --wide $vcf -o wide.tsv
check "--wide holds the same numbers" python3 - <<'PY'
import csv
wide = {}
for row in csv.DictReader(open("wide.tsv"), delimiter="\t"):
    for track in map(str, range(7)):
        wide[row["id"], row["alt"], row["bins"], row["score"], track] = row[track]
rows = list(csv.DictReader(open("forward.tsv"), delimiter="\t"))
assert len(rows) == len(wide) == 672
assert all(wide[r["id"], r["alt"], r["bins"], r["score"], r["track"]] == r["value"] for r in rows)
PY
variants $vcf
check "names of two heads" python3 -c "
import csv
tracks = {row['track'] for row in csv.DictReader(open('out.txt'), delimiter='\t')}
assert tracks == {f'human/{i}' for i in range(7)} | {f'mouse/{i}' for i in range(5)}"
cp -r "$model" named
printf 'index\tidentifier\tdescription\n' >named/targets_human.txt
for i in 0 1 2 3 4 5 6; do printf '%s\tTRACK%s\tDNASE:tissue %s\n' $i $i $i; done >>named/targets_human.txt
run infer variants -q --device cpu --model named --genome genome.fa --head human --tracks TRACK4,TRACK1 $vcf
check "names of a table" cmp <(tail -n +2 out.txt | head -2 | cut -f 8) <(printf 'TRACK4\nTRACK1\n')

# Tracks of one strand are averaged with those of the other.
cp -r named stranded
awk -F '\t' 'BEGIN { OFS = FS } { print $0, NR == 1 ? "strand_pair" : ($1 == 2 ? 5 : $1 == 5 ? 2 : $1) }' \
  named/targets_human.txt >stranded/targets_human.txt
# shellcheck disable=SC2086
run infer variants -q --device cpu --model stranded --genome genome.fa $every --strands both $vcf -o pairs.tsv
check "stranded tracks" rc_is 0
check "their partners are exchanged" python3 - <<'PY'
import csv
def read(path):
    rows = csv.DictReader(open(path), delimiter="\t")
    return {(r["id"], r["alt"], r["bins"], r["score"], int(r["track"].replace("TRACK", ""))): float(r["value"])
            for r in rows if r["score"] in ("REF", "ALT")}
forward, both, pairs = map(read, ("forward.tsv", "both.tsv", "pairs.tsv"))
partner = [0, 1, 5, 3, 4, 2, 6]
differ = 0
for key, value in pairs.items():
    other = key[:4] + (partner[key[4]],)
    right = (forward[key] + 2 * both[other] - forward[other]) / 2
    assert abs(value - right) <= 1e-4 * abs(right), (key, value, right)
    differ += abs(value - both[key]) > 1e-3 * abs(value)
assert differ > 20, differ
PY
run infer variants -q --device cpu --model stranded --genome genome.fa --head human --tracks TRACK5 --scores REF --strands both $vcf
check "a partner that is not asked for" cmp <(tail -n +2 out.txt) <(grep -P "\tall\tREF\tTRACK5\t" pairs.tsv)

# Annotated VCF, and BCF in and out, of one track and of several.
one="--head human --tracks 3 --scores SAD,SAR --bins all,centre:3"
# shellcheck disable=SC2086
variants $one $vcf -o one.tsv
for suffix in vcf vcf.gz bcf; do
  # shellcheck disable=SC2086
  variants $one $vcf -o one.$suffix
  check "$suffix" rc_is 0
done
check "INFO has the table's numbers" python3 - <<'PY'
import csv, gzip
table = {}
for row in csv.DictReader(open("one.tsv"), delimiter="\t"):
    field = row["score"] + ("" if row["bins"] == "all" else "_CENTRE_3")
    table.setdefault((row["id"], field), []).append(float(row["value"]))
for path, opener in (("one.vcf", open), ("one.vcf.gz", gzip.open)):
    lines = [line.split("\t") for line in opener(path, "rt") if not line.startswith("#")]
    assert len(lines) == 9
    for fields in lines:
        info = dict(entry.split("=") for entry in fields[7].strip().split(";"))
        assert set(info) == {"SAD", "SAR", "SAD_CENTRE_3", "SAR_CENTRE_3"}
        for name, text in info.items():
            got, right = [float(x) for x in text.split(",")], table.pop((fields[2], name)) if opener is gzip.open \
                else table[fields[2], name]
            assert len(got) == len(right) == len(fields[4].split(","))
            assert all(abs(a - b) <= 2e-5 * abs(b) for a, b in zip(got, right)), (got, right)
assert not table
PY
# shellcheck disable=SC2086
variants $one one.bcf
check "a field that is there already: only in annotated output" rc_is 0
# shellcheck disable=SC2086
variants $one one.bcf -o again.vcf
check "a field that is there already" err_has "has INFO/SAD already"
# shellcheck disable=SC2086
variants $one one.bcf -o of_bcf.tsv
check "BCF in" same_files of_bcf.tsv one.tsv
variants --head human --tracks 3,5 $vcf -o two.vcf
check "two tracks" grep -q "v3.*SAD=[^,;]*,[^,;]*,[^,;]*,[^,;]*,[^,;]*,[^,;]*$" two.vcf
variants --wide $vcf -o wide.vcf
check "--wide is for tables" rc_is 2
variants $vcf -o scores.npz
check "a name of arrays" rc_is 2

# Windows on a grid: the first base of a piece is where the window's middle is.
variants --head human --scores REF --grid 256 $vcf -o grid.tsv
check "variants of a piece share a reference" python3 - <<'PY'
import csv
values, n_rows = {}, 0
for row in csv.DictReader(open("grid.tsv"), delimiter="\t"):
    piece = row["chrom"], (int(row["pos"]) - 1) // 256, row["track"]
    values.setdefault(piece, set()).add(row["value"])
    n_rows += 1
assert all(len(v) == 1 for v in values.values())
assert 1 < len({v for (c, p, t), vs in values.items() for v in vs}) == len(values) < n_rows
PY
variants --grid 257 $vcf
check "a grid wider than what is predicted" err_has "predicts 256 bases"
variants --head human --scores SAD --bins centre --grid 256 $vcf -o grid.tsv
check "the centre is the variant's bin" rc_is 0
for options in "--no-reuse" "--batch 2"; do
  # shellcheck disable=SC2086
  variants --head human --scores SAD --bins centre --grid 256 $options $vcf -o other.tsv
  check "a grid with $options" same_files other.tsv grid.tsv
done

# Genes: what covers all that is predicted is all, what lies in the variant's bin is that.
printf 'chr1\t896\t1152\twhole\nchr1\t1030\t1031\tinside\nchr1\t1152\t1160\tbehind\nchr1\t0\t900\tfront\n' >genes.bed
grep "^#\|v2" $vcf >v2.vcf
variants --head human --bins all,centre --genes genes.bed v2.vcf -o genes.tsv
check "genes" rc_is 0
of() { awk -F '\t' -v bins="$1" '$6 == bins { print $8, $9 }' genes.tsv; }
check "a gene over all bins" cmp <(of all) <(of gene:whole)
check "a gene in the variant's bin" cmp <(of centre:1) <(of gene:inside)
check "a gene that is not predicted" bash -c '! grep -q gene:behind genes.tsv'
variants --head human --bins centre:16 --genes genes.bed v2.vcf -o wide.tsv
check "a gene over one bin is not all" bash -c '! cmp -s <(grep gene:front wide.tsv | cut -f 9) <(grep centre:16 wide.tsv | cut -f 9)'
awk -F '\t' '{ printf "%s\tx\tgene\t%d\t%d\t.\t+\t.\tgene_id \"%s\";\n", $1, $2 + 1, $3, $4 }' genes.bed >genes.gtf
variants --head human --bins all,centre --genes genes.gtf v2.vcf -o of_gtf.tsv
check "GTF" same_files of_gtf.tsv genes.tsv
variants --genes genes.bed v2.vcf -o genes.vcf
check "genes are for tables" rc_is 2

# Haplotypes: as predicted of sequences that another program makes.
python3 - "$model" <<'PY'
text = "".join(line.strip() for line in open("genome.fa").read().split(">chr2")[0].split("\n")[1:])
other = lambda at: "ACGT"[("ACGT".index(text[at]) + 1) % 4]
variants = [(1000, text[1000], other(1000), "1|0", "1|1"), (1010, text[1010], text[1010] + "ACGT", "0|1", "1|0"),
            (1024, text[1024], other(1024), "1|1", "0|1"), (1040, text[1040:1046], text[1040], "0|1", "1|0"),
            (1100, text[1100], other(1100), "1|0", "0|0")]
with open("phased.vcf", "w") as vcf:
    vcf.write('##fileformat=VCFv4.2\n##contig=<ID=chr1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="g">\n'
              "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\n")
    for at, ref, alt, one, two in variants:
        vcf.write(f"chr1\t{at + 1}\tp{at}\t{ref}\t{alt}\t.\t.\t.\tGT\t{one}\t{two}\n")
with open("windows.fa", "w") as windows:
    for s, sample in enumerate(("S1", "S2")):
        for h in (0, 1):
            carried = [v for v in variants if v[3 + s].split("|")[h] == "1"]
            for this in carried:
                for kind, some in (("REF", [v for v in carried if v is not this]), ("ALT", carried)):
                    left, right = text[:this[0]], text[this[0]:]
                    for at, ref, alt, *_ in sorted(some, reverse=True):
                        if at < this[0]:
                            left = left[:at] + alt + left[at + len(ref):]
                        else:
                            at -= this[0]
                            right = right[:at] + alt + right[at + len(ref):]
                    windows.write(f">p{this[0]}|{sample}/{h + 1}|{kind}\n{left[-512:]}{right[:512]}\n")
PY
variants --head human --scores REF,ALT --samples S1,S2 phased.vcf -o haplotypes.tsv
check "haplotypes" rc_is 0
run infer tracks -q --device cpu --model "$model" --head human windows.fa -o windows.tsv
check "equal to windows of another program" python3 - <<'PY'
import collections, csv
sums = collections.defaultdict(lambda: [0] * 7)
for line in open("windows.tsv"):
    key, _, *numbers = line.split("\t")
    sums[key] = [a + float(b) / 16 for a, b in zip(sums[key], numbers)]
rows = list(csv.DictReader(open("haplotypes.tsv"), delimiter="\t"))
assert len(rows) == 7 * len(sums) and len(sums) == 2 * 11, (len(rows), len(sums))
for row in rows:
    right = sums[f"{row['id']}|{row['haplotype']}|{row['score']}"][int(row["track"])]
    assert abs(float(row["value"]) - right) < 2e-5 * max(1, abs(right)), (row, right)
PY
variants --head human --scores REF,ALT --samples S1,S2 --no-reuse phased.vcf -o other.tsv
check "haplotypes without reuse" same_files other.tsv haplotypes.tsv
for i in 1 2; do variants --head human --scores REF,ALT --samples S1,S2 --shard $i/2 phased.vcf -o $i.tsv; done
works gather -o other.tsv 1.tsv 2.tsv
check "haplotypes of shards" same_files other.tsv haplotypes.tsv
sed 's/1|1/1\/0/' phased.vcf >unphased.vcf
variants --samples S1 unphased.vcf
check "no phase" err_has "has no phase"
# Counted in the part that has the record: p1024 is the third of five.
variants --head human --samples S1 --skip-bad --shard 2/3 unphased.vcf -o other.tsv
check "no phase in this part" rc_is 3
check "no phase in this part, counted" err_has "1 genotype without phase"
for i in 1 3; do
  variants --head human --samples S1 --skip-bad --shard $i/3 unphased.vcf -o other.tsv
  check "phased in part $i" rc_is 0
done
variants --samples S3 phased.vcf
check "no such sample" err_has "has no sample 'S3'"
"$biogpu" infer variants -q --model "$model" --genome genome.fa --samples S1 <phased.vcf 2>err.txt
check "haplotypes of a pipe" err_has "standard input: can be read only once; expected a file"

# A run that was cut short goes on, tables and VCF.
for output in resumed.tsv resumed.vcf; do
  # shellcheck disable=SC2086
  variants $one --batch 1 $vcf -o "whole.${output##*.}"
  # shellcheck disable=SC2086
  variants $one --batch 1 --resume $vcf -o $output
  check "with --resume: $output" same_files "whole.${output##*.}" $output
  check "nothing is left of $output" absent $output.partial
done

# What cannot be scored.
{ cat $vcf && printf 'chr1\t2100\tsym\tA\t<DEL>\t.\t.\t.\n'; } >symbolic.vcf
sed -i "s/\tsym\tA/\tsym\t$(grep -v '>' genome.fa | tr -d '\n' | cut -c 2100)/" symbolic.vcf
variants --head human symbolic.vcf
check "symbolic" rc_is 3
check "by name" err_has "record 10 (chr1:2100): ALT '<DEL>' is symbolic"
variants --head human --skip-bad symbolic.vcf -o skipped.tsv
check "skipped, exit code" rc_is 3
check "skipped, counted" err_has "1 symbolic allele"
variants --head human $vcf -o whole.tsv
check "and the others are there" same_files skipped.tsv whole.tsv
sed 's/^chr2\t257\tv9\t./chr2\t257\tv9\tN/' $vcf | sed 's/v2\tT\tA/v2\tC\tA/' >other.vcf
variants --head human other.vcf
check "another REF" err_has "REF 'C' disagrees with genome.fa, which has 'T' there"
sed 's/^chr2/chr9/' $vcf >unknown.vcf
variants --head human unknown.vcf
check "an unknown sequence" err_has "genome.fa has no sequence 'chr9'"
grep '^#' $vcf >empty.vcf
run infer variants --device cpu --model "$model" --genome genome.fa empty.vcf -o empty.tsv
check "no variant" rc_is 0
check "a warning" err_has "no variant"
check "the header alone" n_lines_is empty.tsv 1
variants --scores SAX $vcf
check "no such score" err_has "expected one of SAD, SAR, REF, ALT"
variants --bins middle $vcf
check "no such bins" err_has "expected all, centre or centre:N"
run infer variants --model "$source_dir/tests/data/models/esm2_head16" --genome genome.fa $vcf
check "a model that has no variants" rc_is 2

# AlphaGenome: heads at bases and at coarse bins; those of pairs of bins are left out.
run infer variants -q --device cpu --model "$source_dir/tests/data/models/alphagenome_tiny" --genome genome.fa $vcf -o all.tsv
check "AlphaGenome: every head of bins" rc_is 0
run infer variants -q --device cpu --model "$source_dir/tests/data/models/alphagenome_tiny" --genome genome.fa --head rna_seq/128 $vcf \
  -o rna.tsv
check "AlphaGenome: one head" rc_is 0
check "AlphaGenome: a line for each allele and track" n_lines_is rna.tsv 73
check "AlphaGenome: the head's lines of both runs" grep -q -e "$(sed -n 2p rna.tsv | cut -f9)" all.tsv
run infer variants -q --device cpu --model "$source_dir/tests/data/models/alphagenome_tiny" --genome genome.fa --head contact_maps $vcf \
  -o never.tsv
check "AlphaGenome: pairs of bins are no bins" err_has "has rows of pairs of bins"

finish
