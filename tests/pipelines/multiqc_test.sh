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
works kmer count -q -m 21 -C -s 1M -o lambda.jf lambda.fq.gz
works kmer histo -o reports/lambda_jf.hist lambda.jf
last_command=multiqc
"$multiqc" --no-ansi --outdir out --force --dirs reports >out.txt 2>err.txt
rc=$?
check "multiqc" rc_is 0
table=out/multiqc_data/multiqc_fastp.txt
check "a table of fastp reports" exists "$table"
check "two reports in it" n_lines_is "$table" 3
check "the sample's name" grep -q lambda "$table"
check "a table of k-mer spectra" bash -c 'grep -rlq "lambda" out/multiqc_data/*jellyfish* 2>/dev/null || grep -q "jellyfish.*Found 1 report\|Found 1 report" err.txt out.txt'
finish
