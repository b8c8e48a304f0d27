#!/usr/bin/env bash
# The name of an output says its format and compression, in any case and in every command; a name that says
# another one is refused before anything is computed.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
models=$source_dir/tests/data/models
dna=$models/enformer_tiny
printf '>s1\nACGTTGCAGGATTACAGCATCG\n>s2\nTTGACCAGGATTACAGCTTGCA\n' >s.fa
printf '>w1\nMKTAYIAKQR\n>w2\nMKLVINGKTL\n' >p.fa
printf '@r1\nACGTTGCAGGATTACAGCATCG\n+\nIIIIIIIIIIIIIIIIIIIIII\n' >r.fq
cp r.fq r2.fq
cp "$dna/genome.fa" genome.fa
cp "$dna/genome.fa.fai" genome.fa.fai 2>/dev/null
run bwt index -q -p s.fa s.fa
check "an index" rc_is 0

# magic NAME: what a file is by its first bytes.
# shellcheck disable=SC2317  # called by check
magic_is() {
  python3 - "$1" "$2" <<'PYTHON'
import gzip, sys
path, expected = sys.argv[1:]
raw = open(path, "rb").read()
is_gzip = raw[:2] == b"\x1f\x8b"
text = gzip.decompress(raw) if is_gzip else raw
kinds = {b"BAM\1": "bam", b"CRAM": "cram", b"\x93NUM": "npy", b"PK\3\4": "npz", b"\x89HDF": "h5", b"BCF\2": "bcf",
         b"##fi": "vcf", b"@HD\t": "sam", b"\x26\xfc\x8f\x88": "bw", b"BIOG": "bgk", b"KFF": "kff", b"<svg": "svg"}
kind = next((name for start, name in kinds.items() if text.startswith(start)), "text")
if kind == "text" and len(text) > 8 and text[8:9] == b"{" and int.from_bytes(text[:8], "little") < len(text):
    kind = "safetensors"
if is_gzip and kind not in ("bam", "bcf"):
    kind += ".gz"
print(kind, file=sys.stderr)
sys.exit(kind != expected)
PYTHON
}
# writes KIND NAME ARGUMENTS...: the run writes a file of this kind under this name.
writes() {
  local kind=$1 name=$2
  shift 2
  rm -f "$name"
  works "$@" -o "$name"
  check "$name of '$*' is $kind" magic_is "$name" "$kind"
}

align=(align -q --mode nw s.fa s.fa)
for name in Q.BAM q.Bam; do writes bam $name "${align[@]}"; done
writes cram q.CRAM "${align[@]}"
writes sam q.SAM "${align[@]}"
writes sam.gz q.Sam.Gz "${align[@]}"
writes sam.gz q.sam.bgz "${align[@]}"
writes text.gz q.TSV.GZ "${align[@]}"
writes text.gz q.gz "${align[@]}"
works "${align[@]}" -o plain.tsv
for name in q.TSV q.tab q.TXT q q.out dot.ted/name; do
  mkdir -p dot.ted
  works "${align[@]}" -o $name
  check "$name is the table" same_files plain.tsv $name
done
for format in paf csv blast6 emboss ssw; do
  works "${align[@]}" --format $format
  cp out.txt told.txt
  upper=$(tr '[:lower:]' '[:upper:]' <<<$format)
  works "${align[@]}" -o "f.$upper"
  check "by the suffix .$upper" same_files told.txt "f.$upper"
  for name in f.txt f.odd f; do
    works "${align[@]}" --format $format -o $name
    check "--format $format as $name" same_files told.txt $name
  done
done
for name in f.tsv f.TSV.gz; do works "${align[@]}" --format blast6 -o $name; done

writes bam l.BAM bwt locate -q -x s.fa s.fa
writes sam l.Sam bwt locate -q -x s.fa s.fa
works bwt locate -q -x s.fa -f bed s.fa
cp out.txt told.txt
works bwt locate -q -x s.fa s.fa -o l.BED
check "l.BED is BED" same_files told.txt l.BED
writes bgk k.BGK kmer count -q -m 5 s.fa
writes kff k.Kff kmer count -q -m 5 s.fa
works qc --quiet -i r.fq -o out.FQ.GZ -j q.JSON -h q.HTML
check "out.FQ.GZ" magic_is out.FQ.GZ text.gz
cp plain.tsv second.tsv
works gather plain.tsv second.tsv -o joined.TSV
cp plain.tsv upper.TSV
works gather upper.TSV second.tsv -o again.tsv
check "a part's .TSV is a table" same_files joined.TSV again.tsv
check "its header comes once" n_lines_is joined.TSV 9

embed=(infer embed -q --device cpu --model "$models/esm2_head16" p.fa)
for name in npy:e.NPY npz:e.Npz h5:e.H5 h5:e.HDF5 safetensors:e.SafeTensors text:e.TSV text.gz:e.tsv.GZ; do
  writes "${name%:*}" "${name#*:}" "${embed[@]}"
done
writes text.gz s.TSV.bgz infer score -q --device cpu --model "$models/esm2_head16" p.fa
effects=(infer variants -q --device cpu --model "$dna" --genome genome.fa --head human --tracks 0 "$dna/variants.vcf")
writes vcf v.VCF "${effects[@]}"
writes vcf.gz v.vcf.bgz "${effects[@]}"
writes vcf.gz v.Vcf.gz "${effects[@]}"
writes bcf v.BCF "${effects[@]}"
contig=$(head -1 genome.fa | tr -d '>' | cut -d' ' -f1)
tracks=(infer tracks -q --device cpu --model "$dna" --genome genome.fa --head human --tracks 0 --region "$contig:301-310")
writes text t.BedGraph "${tracks[@]}"
writes text.gz t.BDG.GZ "${tracks[@]}"
writes h5 t.H5 "${tracks[@]}"
works infer mutagenesis -q --device cpu --model "$dna" --genome genome.fa --head human --tracks 0 --region "$contig:301-304" \
  -o m.NPZ --logo m.SVG --max m.BEDGRAPH
check "m.NPZ" magic_is m.NPZ npz
check "m.SVG" magic_is m.SVG svg

# refuses NAME ARGUMENTS...: the name is an error of usage, and nothing is there under it.
refuses() {
  local name=$1
  shift
  fails 2 "'$name'; expected a name that ends in " "$@" "$name"
  check "no $name" absent "$name"
}
for name in x.parquet x.XLSX x.tsv.zst x.bam.gz x.bcf x.npz x.v2; do refuses $name "${align[@]}" -o; done
for name in x.bam x.SAM x.cram x.csv x.blast6 x.tsv.xz; do refuses $name "${align[@]}" --format paf -o; done
refuses x.bam "${align[@]}" --format tsv -o
for name in x.bam x.sam.gz; do refuses $name bwt locate -q -x s.fa -f bed s.fa -o; done
for name in x.vcf x.csv x.bam.gz; do refuses $name bwt locate -q -x s.fa s.fa -o; done
refuses x.bam bwt count -q -x s.fa s.fa -o
for name in x.npz x.csv x.bgk.xz; do refuses $name kmer count -q -m 5 s.fa -o; done
refuses x.kff kmer count -q -m 5 --text s.fa -o
for name in x.bam x.fq.bz2 x.npy; do refuses $name qc --quiet -i r.fq -o; done
refuses x.html qc --quiet -i r.fq -o x.fq -j
refuses x.npy gather plain.tsv second.tsv -o
refuses x.sam gather plain.tsv second.tsv -o
for name in x.csv x.parquet x.npz.gz x.png; do refuses $name "${embed[@]}" -o; done
for name in x.csv x.npy x.extxyz; do refuses $name infer score -q --device cpu --model "$models/esm2_head16" p.fa -o; done
for name in x.csv x.bcf.gz x.parquet x.bed; do refuses $name "${effects[@]}" -o; done
for name in x.bw.gz x.wig; do refuses $name "${tracks[@]}" -o; done
for option in --logo --max; do
  refuses x.png infer mutagenesis -q --device cpu --model "$dna" --genome genome.fa --region "$contig:301-304" $option
done
for name in x.pdb x.npz; do refuses $name infer design --model none none.pdb -o; done
for name in x.pdb x.sdf; do refuses $name infer relax --model none s.xyz -o; done
refuses x.yaml.bz2 "${align[@]}" --json

# Every option that names an output refuses what nothing writes; those that take any name are listed.
cat >sweep.py <<'PYTHON'
import re, subprocess, sys
biogpu = sys.argv[1]
text = subprocess.run([biogpu, "completion", "bash"], capture_output=True, text=True).stdout
options = re.findall(r'    "([^"\n]*)"\)\n.*\n.*\n      with_value="([^"]*)"', text)
outputs = {"--output", "--json", "--json-lines", "--html", "--logo", "--max", "--table", "--save-probs", "--plot", "--timing", "--out1",
           "--out2", "--merged_out", "--unpaired1", "--unpaired2", "--failed_out", "--overlapped_out"}
# The bytes of any file, and a filter that has no suffix of its own.
takes_any = {("bwt transform", "--output"), ("bwt inverse", "--output")}
# Options of the original, whose -o opens a gap; those of the output are its -g and -O.
text_of_originals = {"align parasail"}
needed = {"align": ["--mode", "nw", "s.fa", "s.fa"], "kmer count": ["-m", "5", "s.fa"], "kmer bc": ["-m", "5", "-s", "1k", "s.fa"],
          "kmer sketch": ["s.fa"], "kmer dist": ["s.fa", "s.fa"], "qc": ["-i", "r.fq", "-I", "r2.fq", "-o", "a.fq", "-O", "b.fq"], "gather": ["plain.tsv"],
          "kmer merge": ["k.bgk", "k.bgk"], "kmer set": ["union", "k.bgk", "k.bgk"], "bwt locate": ["-x", "s.fa", "s.fa"]}
n = wrong = 0
for command, words in options:
    for option in words.split() if command not in text_of_originals else ():
        is_align = command == "align"  # its --output says what is computed
        if option not in outputs and not (option == "-o" and (is_align or "--output" not in words.split())):
            continue
        if is_align and option == "--output":
            continue
        if (command, option) in takes_any:
            continue
        n += 1
        more = ["--merge"] if option == "--merged_out" else []
        done = subprocess.run([biogpu, *command.split(), *needed.get(command, []), *more, option, "no.parquet"], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 2 or "'no.parquet'; expected a name that ends in" not in done.stderr:
            wrong += 1
            print(command, option, done.returncode, done.stderr)
print(n, "options")
sys.exit(wrong > 0 or n < 50)
PYTHON
last_command=sweep.py
python3 sweep.py "$biogpu" >out.txt 2>err.txt
rc=$?
check "every option of an output" rc_is 0

# Standard output, devices and pipes have no suffix.
works "${align[@]}" -o /dev/stdout
check "/dev/stdout" same_files plain.tsv out.txt
works "${align[@]}" --format sam -o /dev/fd/1
check "/dev/fd/1" out_has '^@HD'
mkfifo pipe
cat pipe >from_pipe.txt &
works "${align[@]}" -o pipe
wait $!
check "a pipe" same_files plain.tsv from_pipe.txt
finish
