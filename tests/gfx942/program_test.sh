#!/usr/bin/env bash
# The program built for gfx942 on a few records, its kernels run as machine code on the CPU: its output with
# --device gpu is that with --device cpu. Run by scripts/dev/gfx942_run.sh.
#
# usage: tests/gfx942/program_test.sh BINARY SOURCE_DIR rocm CASE
what=$4
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
write_example

# both ARGUMENTS...: runs with either device; leaves their standard output in cpu.txt and gpu.txt. %d in an
# argument stands for the device.
both() {
  local device
  for device in cpu gpu; do
    works "${@//%d/$device}" --device "$device"
    cp out.txt "$device.txt"
  done
}

# same ARGUMENTS...: what is printed is the same with either device, and something.
same() {
  both "$@"
  check "something is printed" [ -s cpu.txt ]
  check "the GPU prints what the CPU does" same_files cpu.txt gpu.txt
}

# close FILE FILE BOUND: arrays of fp32 in .npy files of one shape, no number further apart than BOUND.
# shellcheck disable=SC2317  # called by check
close() {
  cmp <(head -c 128 "$1") <(head -c 128 "$2") && paste \
    <(od -A n -v -w4 -t f4 -j 128 "$1") <(od -A n -v -w4 -t f4 -j 128 "$2") |
    awk -v bound="$3" '
      { d = $1 - $2; if (d < 0) d = -d; if (!(d <= bound)) far = 1; if (d > most) most = d; ++n }
      END { printf "  %d numbers, greatest difference %g\n", n, most; exit n == 0 || far }'
}

# near FILE FILE BOUND: the same text but for numbers, none of them further apart than BOUND.
# shellcheck disable=SC2317  # called by check
near() {
  paste -d ' ' "$1" "$2" | awk -v bound="$3" '
    { if (NF == 0 || NF % 2) { bad = 1; next }
      for (i = 1; i <= NF / 2; ++i) {
        a = $i; b = $(NF / 2 + i)
        if (a == b) { n += a ~ /[0-9]\.[0-9]/; continue }
        if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) { bad = 1; next }
        d = a - b; if (d < 0) d = -d
        if (!(d <= bound)) bad = 1
        if (d > most) most = d
        ++n
      } }
    END { printf "  %d numbers, greatest difference %g\n", n, most; exit n == 0 || bad }'
}

models=$source_dir/tests/data/models
case $what in
  devices)
    works devices
    check "the device is listed" out_has 'gfx942'
    ;;
  align_score) same align -q --strand forward --mode nw --output score q.fa t.fa ;;
  align_local_score) same align -q --strand forward --mode sw --output score q.fa t.fa ;;
  align_cigar)
    same align -q --strand forward --mode nw q.fa t.fa
    same align -q --strand forward --mode sg_dx q.fa t.fa
    ;;
  align_band) same align -q --strand forward --mode nw --band 8 q.fa t.fa ;;
  align_search)
    printf '>a\nMKTAYIAKQRQISFVKSHFSRQ\n>b\nGSHMLEDPVDAFK\n' >queries.fa
    printf '>c\nMKTAYIAKQRNISFVKSHFARQ\n>d\nGGHMLEDPVNAFKW\n>e\nWWPLLKKRA\n' >proteins.fa
    same align -q --mode sw --preset protein --top 2 --columns query,target,score queries.fa proteins.fa
    ;;
  kmer_count)
    gzip -dc "$source_dir/data/lambda_reads.fq.gz" | head -n 24 >reads.fq
    for k in 5 21 40; do
      both kmer count -q -m "$k" -C -s 4k -o %d.jf reads.fq
      for device in cpu gpu; do
        works kmer info -s "$device.jf"
        cp out.txt "$device.txt"
      done
      check "there are some of $k bases" [ -s cpu.txt ]
      check "the GPU counts what the CPU does" same_files cpu.txt gpu.txt
    done
    ;;
  kmer_query)
    works kmer count -q -m 9 -C -s 1k --device cpu -o counts.jf q.fa t.fa
    same kmer query -s q.fa counts.jf
    ;;
  bwt_transform)
    both bwt transform -q t.fa -o %d.bwt
    check "the transform" same_files cpu.bwt gpu.bwt
    ;;
  bwt_index)
    both bwt index -q t.fa -p %d
    check "the index" same_files cpu.bgfm gpu.bgfm
    ;;
  bwt_locate)
    works bwt index -q --device cpu t.fa -p index
    printf '>p1\nACGTTG\n>p2\nTTTTTT\n>p3\nGCA\n' >patterns.fa
    same bwt locate -q -x index patterns.fa
    same bwt count -q -x index patterns.fa
    ;;
  qc | qc_cut)
    options=(-q 8)
    [ "$what" = qc ] || options+=(-5 -3)
    gzip -dc "$source_dir/data/lambda_reads.fq.gz" | head -n 80 >reads.fq
    both qc -i reads.fq -o %d.fq -j %d.json "${options[@]}"
    check "reads are left" [ -s cpu.fq ]
    check "reads" same_files cpu.fq gpu.fq
    check "the report" bash -c 'diff <(grep -v "\"command\"" cpu.json) <(grep -v "\"command\"" gpu.json)'
    ;;
  infer_embed)
    printf '>a\nMKTAYIAKQR\n>b\nGSHMLE\n' >p.fa
    both infer embed -q --precision fp32 --model "$models/esm2_head16" p.fa -o %d.npy
    check "embeddings" close cpu.npy gpu.npy 1e-4
    ;;
  infer_energy)
    printf '3\n\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n' >water.xyz
    both infer energy -q --model "$models/tensornet/o3" --forces water.xyz -o %d.extxyz
    for device in cpu gpu; do sed 's/energy=/energy= /' "$device.extxyz" >"$device.txt"; done
    check "energies and forces" near cpu.txt gpu.txt 1e-5
    ;;
  infer_tracks)
    head -n 2 "$models/enformer_tiny/windows.fa" >window.fa
    both infer tracks -q --precision fp32 --model "$models/enformer_tiny" --head human window.fa -o %d.tsv
    check "tracks" near cpu.tsv gpu.tsv 1e-4
    ;;
esac
finish
