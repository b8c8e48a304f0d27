#!/usr/bin/env bash
# `biogpu infer variants --scorers`: AlphaGenome's scores of variants, files of genes and sites, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

checker=$source_dir/tests/support/scorer_check.py
python3 "$source_dir/tests/support/alphagenome_folders.py" "$source_dir/tests/data/models/alphagenome_tiny" || exit 1
python3 "$checker" make || exit 1
scorers() { run infer variants -q --device cpu --model tables --genome genome.fa "$@" variants.vcf; }
every="--scorers recommended --genes genes.gtf --polya polya.bed"

# Every recommended scorer, over SNVs, substitutions of several letters, insertions and deletions.
# shellcheck disable=SC2086
scorers $every -o scores.tsv
check "recommended" rc_is 0
check "equal to a computation of its own" python3 "$checker" check "$biogpu" tables scores.tsv
# shellcheck disable=SC2086
scorers $every --merge-strands -o merged.tsv
check "strands merged" python3 "$checker" check "$biogpu" tables merged.tsv merged

# The same bytes for any batch, by all tracks of whole windows, in parts, from a pipe, of compressed files, and where a run was cut short.
for options in "--batch 1" "--batch 5" "-t 1" --no-reuse "--kept-memory 0"; do
  # shellcheck disable=SC2086
  scorers $every $options -o other.tsv
  check "the same with $options" same_files other.tsv scores.tsv
done
gzip -k genes.gtf polya.bed
scorers --scorers recommended --genes genes.gtf.gz --polya polya.bed.gz -o other.tsv
check "the same of compressed files" same_files other.tsv scores.tsv
sed 's/$/\r/' genes.gtf >crlf.gtf
printf '\xef\xbb\xbf' | cat - polya.bed >bom.bed
scorers --scorers recommended --genes crlf.gtf --polya bom.bed -o other.tsv
check "the same with other ends of lines and a byte-order mark" same_files other.tsv scores.tsv
# shellcheck disable=SC2086
"$biogpu" infer variants -q --device cpu --model tables --genome genome.fa $every <variants.vcf >piped.tsv
check "the same from a pipe" same_files piped.tsv scores.tsv
for part in 1 2 3; do
  # shellcheck disable=SC2086
  scorers $every --shard "$part/3" -o "part$part.tsv"
done
run gather part1.tsv part2.tsv part3.tsv -o gathered.tsv
check "the same in parts" same_files gathered.tsv scores.tsv

# Some scorers: their lines of the table, computed alone; other centre masks.
for names in ATAC RNA_SEQ,CAGE_ACTIVE CONTACT_MAPS,SPLICE_SITES POLYADENYLATION; do
  genes=(--genes genes.gtf)
  case $names in ATAC) genes=() ;; POLYADENYLATION) genes+=(--polya polya.bed) ;; esac
  scorers --scorers "$names" "${genes[@]}" -o some.tsv
  check "$names" rc_is 0
  check "$names: lines of the table" [ "$(comm -23 <(sort some.tsv) <(sort scores.tsv) | wc -l)" -eq 0 ]
  check "$names: some" [ "$(wc -l <some.tsv)" -gt 10 ]
done
scorers --scorers ATAC:501:DIFF_LOG2_SUM,ATAC:all:L2_DIFF,SPLICE_SITES:2001:DIFF_MEAN -o masks.tsv
check "other masks" rc_is 0
check "as the recommended one" cmp <(grep -P '\tCenterMaskScorer\(requested_output=ATAC, width=501, aggregation_type=DIFF_LOG2_SUM' masks.tsv) \
  <(grep -P '\tCenterMaskScorer\(requested_output=ATAC, width=501, aggregation_type=DIFF_LOG2_SUM' scores.tsv)
check "their names" grep -q "CenterMaskScorer(requested_output=SPLICE_SITES, width=2001, aggregation_type=DIFF_MEAN)" masks.tsv

# Variants that share windows share the reference; numbers change a little with the window.
scorers --scorers DNASE --grid 64 -o grid.tsv
check "a grid" rc_is 0
check "windows of the grid" [ "$(cut -f 2 grid.tsv | grep -c 'chr1:2592-3616')" -gt 3 ]

# What is left out of the recommended ones is told.
"$biogpu" infer variants --device cpu --model tables --genome genome.fa --scorers recommended variants.vcf -o some.tsv 2>err.txt
check "without genes" err_has "left out are RNA_SEQ (--genes), RNA_SEQ_ACTIVE (--genes), SPLICE_SITES (--genes)"
"$biogpu" infer variants --device cpu --model tables --organism mouse --genome genome.fa --scorers recommended \
  --genes genes.gtf variants.vcf -o some.tsv 2>err.txt
check "without tracks" err_has "POLYADENYLATION (--polya), PROCAP (no tracks of procap/1)"
scorers --organism mouse --scorers PROCAP,ATAC
check "one without tracks" err_has "--scorers PROCAP: the model has no tracks of procap/1"
scorers --organism mouse --scorers PROCAP
check "a scorer without tracks" err_has "the model has no tracks of procap/1"

# Scores of genes in windows alone.
windows=(infer tracks -q --device cpu --model tables --genome genome.fa --region chr1:2601-3624 --region chr1:2761-3784)
run "${windows[@]}" --interval-scorers RNA_SEQ:501:MEAN,CHIP_TF:all:SUM,SPLICE_SITES:all:MEAN --genes genes.gtf -o genes.tsv
check "scores of intervals" rc_is 0
run "${windows[@]}" --head rna_seq/1,chip_tf/128,splice_sites -o windows.safetensors
check "equal to the tracks" python3 "$checker" intervals windows.safetensors tables genes.tsv
run "${windows[@]}" --interval-scorers RNA_SEQ:501:MEAN,CHIP_TF:all:SUM,SPLICE_SITES:all:MEAN --genes genes.gtf --batch 1 -t 1
check "the same in other batches" same_files out.txt genes.tsv
run "${windows[@]}" --interval-scorers SPLICE_SITES:all:MEAN --genes genes.gtf --merge-strands -o merged.tsv
check "strands merged" [ "$(cut -f 11 merged.tsv | sort -u | tr '\n' ' ')" = ". track_strand " ]
run "${windows[@]}" --interval-scorers RNA_SEQ --genes genes.gtf
check "wider than the window" err_has "--interval-scorers RNA_SEQ:200001: the model's windows have 1024 bases"
run "${windows[@]}" --interval-scorers PROCAP:all:SUM --genes genes.gtf
check "another output" err_has "the output is 'PROCAP'; expected one of ATAC, CAGE"
run "${windows[@]}" --interval-scorers ATAC:all:SUM
check "without genes" rc_is 2
run "${windows[@]}" --interval-scorers ATAC:all:SUM --genes genes.gtf -o refused.npz
check "no arrays" err_has "--interval-scorers writes a table"
run infer tracks -q --device cpu --model tables --interval-scorers ATAC:all:SUM --genes genes.gtf genome.fa
check "no genome" err_has "--interval-scorers needs --genome with --regions or --region"

# Predictions that overflow are no scores: heads with very large weights.
python3 - <<'END'
import json
import pathlib
import shutil
import struct
shutil.copytree("tables", "large")
path = pathlib.Path("large/model.safetensors")
data = bytearray(path.read_bytes())
size = struct.unpack("<Q", data[:8])[0]
for key, entry in json.loads(data[8:8 + size]).items():
    if key.startswith(("heads.", "splice_sites_classification_head.")) and key.endswith((".weight", ".bias")):
        begin, end = entry["data_offsets"]
        data[8 + size + begin:8 + size + end] = struct.pack("<f", 3e38) * ((end - begin) // 4)
path.write_bytes(data)
END
for names in RNA_SEQ_ACTIVE CAGE_ACTIVE SPLICE_SITES POLYADENYLATION SPLICE_JUNCTIONS; do
  files=(--genes genes.gtf)
  case $names in CAGE_ACTIVE) files=() ;; POLYADENYLATION) files+=(--polya polya.bed) ;; esac
  run infer variants -q --device cpu --model large --genome genome.fa --scorers "$names" "${files[@]}" variants.vcf -o large.tsv
  check "$names that overflow" rc_is 1
  check "$names: says so" err_has 'variants.vcf: record [12] .*: the result is NaN or infinite'
  check "$names: no file" absent large.tsv
done
run "${windows[@]/tables/large}" --head splice_junctions -o large.tsv
check "junctions of sites that overflow" rc_is 1
check "no file of these" absent large.tsv

# Refusals: one line, code 2 or 3, no file.
refused() {
  local code=$1 message=$2
  shift 2
  scorers "$@" -o refused.tsv
  check "$message" rc_is "$code"
  check "$message" err_has "$message"
  check "no file: $message" absent refused.tsv
}
refused 2 "--scorers RNA_SEQ needs --genes" --scorers RNA_SEQ
refused 2 "--scorers POLYADENYLATION needs --polya" --scorers POLYADENYLATION --genes genes.gtf
refused 2 "'ATAK': expected recommended, OUTPUT:WIDTH:AGGREGATION or one of ATAC" --scorers ATAK
refused 2 "the width is '502'; expected all, 501" --scorers ATAC:502:DIFF_SUM
refused 2 "the aggregation is 'SUM'; expected one of DIFF_MEAN" --scorers ATAC:501:SUM
refused 2 "--scorers recommended stands alone" --scorers recommended,ATAC
refused 2 "--genes: none of the --scorers is of genes" --scorers ATAC --genes genes.gtf
refused 2 "--merge-strands: none of the --scorers is of genes" --scorers ATAC --merge-strands
refused 2 "--polya is for --scorers POLYADENYLATION" --scorers RNA_SEQ --genes genes.gtf --polya polya.bed
refused 2 "polya.bed: --scorers takes genes of GTF" --scorers RNA_SEQ --genes polya.bed
refused 2 "--bins and --scorers exclude each other" --scorers ATAC --bins all
refused 2 "--grid 2048: the model's windows have 1024 bases" --scorers ATAC --grid 2048
run infer variants -q --device cpu --model tables --genome genome.fa --polya polya.bed variants.vcf
check "--polya alone" rc_is 2
scorers --scorers ATAC -o refused.vcf
check "no VCF" err_has "--scorers writes tables, not VCF"
run infer variants -q --device cpu --model "$source_dir/tests/data/models/enformer_tiny" --genome genome.fa --scorers ATAC variants.vcf
check "other models" err_has "enformer_tiny: the model has no tracks of atac/1$"
head -3 genes.gtf | sed 's/\t2901\t/\t29x1\t/' >bad.gtf
refused 3 "bad.gtf: line 3: malformed transcript" --scorers RNA_SEQ --genes bad.gtf
printf 'chr1\t5\t6\tG\n' >bad.bed
refused 3 "bad.bed: line 1: 4 columns" --scorers POLYADENYLATION --genes genes.gtf --polya bad.bed
sed -i 's/^cage\t\(.*\)cage 1\t-/cage\t\1cage 2\t-/; s/^rna_seq\t0\t\(.*\)\t\./rna_seq\t0\t\1\t+/; s/^rna_seq\t1\t\(.*\)\t\./rna_seq\t1\t\1\t-/' tables/tracks_human.tsv
refused 3 "the tracks of + and of - of rna_seq/1 have not the same names" --scorers RNA_SEQ --genes genes.gtf --merge-strands

finish
