#!/usr/bin/env bash
# `biogpu infer variants`: what VCF, BCF, genomes and tables of genes may hold, and what errors say.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/enformer_tiny
cp "$model/genome.fa" .
variants="infer variants -q --device cpu --model $model --head human --tracks 2"
letters=$(sed -n '/^>chr1/,/^>chr2/p' genome.fa | grep -v '>' | tr -d '\n')
letter() { echo "${letters:$(($1 - 1)):1}"; }
other() { tr ACGT CGTA <<<"$(letter "$1")"; }
head='##fileformat=VCFv4.2\n##INFO=<ID=AC,Number=A,Type=Integer,Description="a">\n'
columns='#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
# vcf FILE LINE...: CHROM to INFO of each, which printf formats.
vcf() {
  local file=$1
  shift
  # shellcheck disable=SC2059
  { printf "$head$columns" && printf '%b\n' "$@"; } >"$file"
}
snv="chr1\t1500\tsnv\t$(letter 1500)\t$(other 1500)"
# shellcheck disable=SC2086
fails_on() { fails "$1" "$2" $variants --genome genome.fa "${@:3}"; }

# Numbers that only begin as such: each would be a base where REF fits.
for pos in 1500.0 15e2 1,500 "1500 " +1500 0x5dc; do
  vcf number.vcf "$snv\t.\t.\t." "chr1\t$pos\tx\t$(letter 1500)\t$(other 1500)\t.\t.\t."
  fails_on 3 "number.vcf: record 2 (chr1:.*): POS '$pos'; expected a whole number" number.vcf
done

# All records are in annotated output.
vcf all.vcf "chr1\t1400\ta\t$(letter 1400)\t*\t7.5\t.\tAC=2" "$snv,<*>\t.\tPASS\tAC=1,0" \
  "chr1\t1501\tb\t$(letter 1501)\t<NON_REF>\t.\t.\tEND=1600;OWN" "chr1\t1502\tc\t$(letter 1502)\t.\t.\tlow\t."
for suffix in vcf vcf.gz; do
  # shellcheck disable=SC2086
  run $variants --genome genome.fa --json all.json all.vcf -o all.out.$suffix
  check "all records: $suffix" rc_is 0
  check "tags without definition: $suffix" err_has "all.vcf: record 3: the header does not define INFO/OWN"
done
check "the same compressed" cmp <(gzip -dc all.out.vcf.gz) all.out.vcf
check "as they came in" cmp <(grep -v '^#' all.vcf) <(grep -v '^#' all.out.vcf | sed 's/;SAD=[^,]*,\.//')
check "scored once" test "$(grep -c 'SAD=[-0-9.e]*,\.' all.out.vcf)" = 1
check "counted" python3 -c "
import json
result = json.load(open('all.json'))['result']
assert result['records'] == 4 and result['variants'] == 1 and result['skipped']['no_alternate'] == 3"
fails_on 3 "all.vcf: record 3: the header does not define INFO/END, which BCF needs" all.vcf -o all.bcf
check "no file" absent all.bcf
vcf skipped.vcf "$snv\t.\t.\t." "chr9\t5\tx\tA\tC\t.\t.\t." "chr1\t90000\ty\tA\tC\t.\t.\t." "chr1\t1501\tz\t$(letter 1501)\t<DEL>\t.\t.\t."
# shellcheck disable=SC2086
run $variants --genome genome.fa --skip-bad skipped.vcf -o skipped.out.vcf
check "what is skipped, exit code" rc_is 3
check "is written" cmp <(grep -v '^#' skipped.vcf) <(grep -v '^#' skipped.out.vcf | sed 's/SAD=.*/./')
check "and counted" err_has "1 symbolic allele, 1 record of unknown sequences, 1 outside of theirs, 0 with another REF"
# More of them than wait at a time, behind a result and alone; in parts, cut short and gone on with.
vcf blocks.vcf "$snv\t.\t.\t."
for i in $(seq 9000); do printf 'chr1\t%d\t.\tA\t<*>\t.\t.\t.\n' $((i % 1000 + 1)); done >>blocks.vcf
# shellcheck disable=SC2086
run $variants --genome genome.fa blocks.vcf -o blocks.out.vcf
check "9,000 records that are not scored" cmp <(grep -v '^#' blocks.vcf) <(grep -v '^#' blocks.out.vcf | sed 's/SAD=.*/./')
for i in 1 2 3; do
  # shellcheck disable=SC2086
  run $variants --genome genome.fa --shard $i/3 all.vcf -o $i.vcf
done
works gather -o gathered.vcf 1.vcf 2.vcf 3.vcf
check "shards hold all records" cmp <(grep -v '^#' all.out.vcf) <(grep -v '^#' gathered.vcf)
# shellcheck disable=SC2086
run $variants --genome genome.fa --resume all.vcf -o resumed.vcf
check "with --resume" same_files resumed.vcf all.out.vcf

# Fields that are asked for twice, in any way.
for options in "--bins centre,centre:1" "--bins all,all" "--scores SAR,SAR"; do
  for suffix in vcf bcf; do
    # shellcheck disable=SC2086
    run $variants --genome genome.fa $options all.vcf -o twice.$suffix
    check "$options" rc_is 2
    check "$options: no $suffix" absent twice.$suffix
  done
done

# Compressions and formats that are not read, as every input: an error, and no library aborts.
vcf plain.vcf "$snv\t.\t.\t."
printf 'chr1\t1400\t1600\tg\n' >plain.bed
printf 'chr1\tx\tgene\t1400\t1600\t.\t+\t.\tgene_id "g";\n' >plain.gtf
for tool in xz bzip2 zstd; do
  if ! command -v $tool >tool.txt; then continue; fi
  for file in plain.vcf plain.bed plain.gtf genome.fa genome.fa.fai; do $tool -c $file >"packed.${file##*.}"; done
  fails_on 3 "packed.vcf: is compressed with $tool; expected" packed.vcf
  fails_on 3 "packed.bed: is compressed with $tool; expected" --genes packed.bed plain.vcf
  fails_on 3 "packed.gtf: is compressed with $tool; expected" --genes packed.gtf plain.vcf
  # shellcheck disable=SC2086
  fails 3 "packed.fa: is compressed with $tool; expected" $variants --genome packed.fa plain.vcf
  cp genome.fa indexed.fa && cp packed.fai indexed.fa.fai
  # shellcheck disable=SC2086
  fails 3 "indexed.fa.fai: is compressed with $tool; expected" $variants --genome indexed.fa plain.vcf
done
printf 'CRAM\3\0rest' >cram.vcf
fails_on 3 "cram.vcf: expected VCF or BCF; the first line of VCF is" cram.vcf
printf '%b\n' "$snv\t.\t.\t." >bare.vcf
fails_on 3 "bare.vcf: expected VCF or BCF; the first line of VCF is" bare.vcf
# shellcheck disable=SC2059
printf "${head}#CHROM POS ID REF ALT QUAL FILTER INFO\n" >blanks.vcf
fails_on 3 "blanks.vcf: the header is malformed: its last line is .*separated by tabs" blanks.vcf
{ printf '\xef\xbb\xbf' && cat plain.vcf && echo; } >mark.vcf
# shellcheck disable=SC2086
run $variants --genome genome.fa plain.vcf -o plain.tsv
# shellcheck disable=SC2086
run $variants --genome genome.fa mark.vcf -o mark.tsv
check "a byte order mark and a blank line" same_files plain.tsv mark.tsv

# Names that differ by their prefix, in every input.
sed 's/^>chr/>/' genome.fa >short.fa
short="$variants --genome short.fa"
# shellcheck disable=SC2086
fails 3 "plain.vcf: record 1 (chr1:1500): short.fa has no sequence 'chr1'; it has 1, 2.*'chr1' may be what it calls '1'" $short plain.vcf
sed 's/^chr1\t/1\t/' plain.vcf >short.vcf
fails_on 3 "has no sequence '1'; .*'1' may be what it calls 'chr1'" short.vcf
# shellcheck disable=SC2086
fails 3 "plain.bed: line 1: short.fa has no sequence 'chr1'.*may be" $short --genes plain.bed short.vcf
# shellcheck disable=SC2086
fails 3 "plain.gtf: short.fa has no sequence 'chr1'.*may be" $short --genes plain.gtf short.vcf
fails 2 "has no sequence 'chr1'; .*may be what it calls '1'" infer tracks -q --model "$model" --genome short.fa --region chr1:5-9

# An index of an earlier file, and a genome where no index can be written.
fold -w 41 <<<"$letters" | sed '1i >chr1' >stale.fa
sed 's/chr2.*//; /^$/d' genome.fa.fai >stale.fa.fai
# shellcheck disable=SC2086
fails 3 "stale.fa.fai: does not fit stale.fa at sequence 'chr1'; remove the index" $variants --genome stale.fa plain.vcf
mkdir locked && cp genome.fa locked && chmod -R a+rX . && chmod a-w locked
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${as_user[@]}" "$biogpu" --version >version.txt 2>&1; then
  # shellcheck disable=SC2086
  "${as_user[@]}" "$biogpu" $variants --genome locked/genome.fa plain.vcf >locked.tsv 2>err.txt
  check "an index in memory" same_files locked.tsv plain.tsv
  check "and no file" absent locked/genome.fa.fai
  check "and a warning" err_has "warning: locked/genome.fa.fai: .*Permission denied; the index is kept in memory"
fi
chmod u+w locked

# An allele of two records is one of a haplotype; where the second has no phase, it has no row.
gt='##FORMAT=<ID=GT,Number=1,Type=String,Description="g">\n'
for genotype in '1|0' '0/1' './.'; do
  # shellcheck disable=SC2059
  { printf "$head$gt${columns%\\n}\tFORMAT\tS\n" && printf '%b\n' "$snv\t.\t.\t.\tGT\t1|1" "$snv\t.\t.\t.\tGT\t$genotype"; } >repeated.vcf
  # shellcheck disable=SC2086
  "$biogpu" ${variants/ -q/} --genome genome.fa --samples S --skip-bad repeated.vcf >"rows.tsv" 2>err.txt
  check "rows of $genotype" n_lines_is rows.tsv "$([ "$genotype" = "1|0" ] && echo 4 || echo 3)"
  check "nothing is left out of $genotype" bash -c '! grep -q overlap err.txt'
done

# Genes of GTF without lines of their own, and of one name.
printf 'chr1\tx\t%s\t%d\t%d\t.\t+\t.\tgene_id "%s"; gene_name "N";\n' exon 1450 1480 A CDS 1490 1520 A gene 1490 1500 B >parts.gtf
printf 'chr1\t1449\t1520\tA\nchr1\t1489\t1500\tB\n' >parts.bed
for genes in parts.gtf parts.bed; do
  # shellcheck disable=SC2086
  run $variants --genome genome.fa --genes $genes plain.vcf -o $genes.tsv
  check "$genes" rc_is 0
done
check "the same genes" same_files parts.gtf.tsv parts.bed.tsv
check "both" n_lines_is parts.gtf.tsv 4
"$biogpu" infer variants --model "$model" --genome genome.fa --genes parts.gtf plain.vcf >out.txt 2>err.txt
check "told" err_has "parts.gtf: 1 genes have no line of their own"

finish
