# What a check of kernel files says of each part of the program: sourced by compile_check.sh and cuda_headers_check.sh.
# shellcheck shell=bash

# part_of FILE: the part of the program that a kernel file belongs to.
part_of() {
  case $1 in
    gpu/align/*) echo align ;;
    gpu/kmer/*) echo kmer ;;
    gpu/bwt/*) echo bwt ;;
    gpu/qc/*) echo qc ;;
    gpu/ops/* | gpu/models/*) echo infer ;;
    *) echo all ;;  # what every part uses
  esac
}

# kernel_rows PLATFORM STATE WHAT FILE...: a line a part for scripts/measure/platforms.py; WHAT follows the number of files.
kernel_rows() {
  local platform=$1 state=$2 what=$3
  shift 3
  for file in "$@"; do part_of "$file"; done | sort | uniq -c |
    awk -v platform="$platform" -v state="$state" -v what="$what" -v OFS='\t' '{ print platform, $2, state, $1 " " what }'
}
