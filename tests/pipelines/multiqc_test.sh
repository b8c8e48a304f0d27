#!/usr/bin/env bash
# MultiQC reads the reports: of one run, of merged parts, and the spectrum of k-mers.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

multiqc=${BIOGPU_MULTIQC:-$(command -v multiqc)}
if [ -z "$multiqc" ]; then
  echo "SKIPPED: no multiqc here; 'scripts/setup.sh --dev' installs it, or name one in BIOGPU_MULTIQC"
  exit 77
fi
reads=$source_dir/data/lambda_reads.fq.gz
mkdir reports home
export HOME=$work/home
cp "$reads" lambda.fq.gz
works qc --quiet -i lambda.fq.gz -o clean.fq.gz -j reports/whole.fastp.json -h whole.html
for i in 1 2; do
  works qc --quiet -i lambda.fq.gz -o "$i.fq.gz" -j "$i.json" -h "$i.html" --shard "$i/2" --part "$i.part"
done
mkdir reports/merged
works qc-merge 1.part 2.part -j reports/merged/merged.fastp.json -h merged.html
# Samples bear their input's name, however it is spelt, also after merging; in parts of other samples, too.
for spelling in "-i" "--in1" "--in1=" "-i="; do
  sample=sample${#spelling}
  cp "$reads" "$sample.fq.gz"
  input=("$spelling" "$sample.fq.gz")
  case $spelling in
    --in1=) input=("--in1=$sample.fq.gz") ;;
    -i=) input=("-i$sample.fq.gz") ;;
  esac
  for i in 1 2 3; do
    works qc --quiet --shard "$i/3" "${input[@]}" -o "$i.fq.gz" -j /dev/null -h /dev/null --part="$i.part"
  done
  mkdir "reports/$sample"
  works qc-merge 3.part 1.part 2.part -j "reports/$sample/fastp.json" -h "$sample.html"
done
works kmer count -q -m 21 -C -s 1M -o lambda.jf lambda.fq.gz
works kmer histo -o reports/lambda_jf.hist lambda.jf
last_command=multiqc
"$multiqc" --no-ansi --outdir out --force --dirs reports >out.txt 2>err.txt
rc=$?
check "multiqc" rc_is 0
table=out/multiqc_data/multiqc_fastp.txt
check "a table of fastp reports" exists "$table"
check "six reports in it" n_lines_is "$table" 7
check "the sample's name" grep -q lambda "$table"
for sample in sample2 sample3 sample5 sample6; do
  check "the name of $sample" grep -q "^[^	]*\b$sample	" "$table"
done
check "the version in the merged report" \
  grep -q "\"biogpu\": {\"version\": \"$("$biogpu" --version | sed -n '1s/biogpu //p')\", " reports/sample2/fastp.json
check "the version on the merged page" grep -q "biogpu $("$biogpu" --version | sed -n '1s/biogpu //p') qc" sample2.html
check "a table of k-mer spectra" bash -c 'grep -rlq "lambda" out/multiqc_data/*jellyfish* 2>/dev/null || grep -q "jellyfish.*Found 1 report\|Found 1 report" err.txt out.txt'
finish
