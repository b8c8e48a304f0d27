#!/usr/bin/env bash
# Unpacks an archive of archive.sh in bare Debian systems, as a user who is not root, and runs commands from file to
# file: what they write must be what they write on this machine.
#
# usage: scripts/packaging/try_archive.sh ARCHIVE [RELEASE...]      [bookworm trixie]
set -euo pipefail

cd "$(dirname "$0")/../.."
archive=$(realpath "${1:?usage: scripts/packaging/try_archive.sh ARCHIVE [RELEASE...]}")
shift
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$archive" .tar.gz)

# What is run, with the archive unpacked in the current folder and the source folder as its argument; the sums of what
# was written go to standard output.
cat >"$work/commands.sh" <<'END'
set -euo pipefail
export PATH=$PWD/$2/bin:/usr/bin:/bin HOME=$PWD BIOGPU_DEVICE=cpu
data=$1/data models=$1/tests/data/models
(cd "$2" && sha256sum --quiet -c SHA256SUMS) >&2
biogpu devices >&2
biogpu qc --quiet -i "$data/lambda_reads.fq.gz" -o clean.fq.gz -j qc.json -h qc.html
biogpu kmer count -q --no-provenance -m 21 -C -o reads.jf "$data/lambda_reads.fq.gz"
biogpu bwt index -q --format bwa -p lambda "$data/lambda.fa"
biogpu align -q --mode sg_dx --strand both "$data/lambda_reads.fq.gz" "$data/lambda.fa" -o reads.paf
biogpu align -q --mode sw --pairs "$data/lambda_reads.fq.gz" "$data/lambda_windows.fa" -o pairs.sam
biogpu infer embed -q --model "$models/esm2_head16" "$data/protein_queries.fa" -o means.tsv
cp "$models/enformer_tiny/genome.fa" .
biogpu infer tracks -q --model "$models/enformer_tiny" --genome genome.fa --region chr1:1001-1400 --head human \
  --tracks 2 -o track.bw
printf '2\n\nSi 0 0 0\nSi 2.3 0 0\n' >pair.xyz
biogpu infer energy -q --model "$models/tensornet/matgl" --forces pair.xyz -o energy.tsv
biogpu infer recognize -q --model "$models/molscribe_tiny" "$models/molscribe_tiny/picture0.png" -o drawing.tsv
biogpu man align >/dev/null
# Headers of SAM have the command with its paths.
grep -v '^@PG' pairs.sam >pairs.txt
gzip -dc clean.fq.gz >clean.fq
sha256sum clean.fq reads.jf lambda.bwt lambda.sa reads.paf pairs.txt
for file in means.tsv track.bw energy.tsv drawing.tsv; do [ -s "$file" ]; done
# Nothing is taken from the system but the C library.
find "$2" -type f \( -name '*.so*' -o -path '*/bin/biogpu' \) | while read -r file; do
  ldd "$file" >libraries.txt
  if grep -E 'not found|=> /' libraries.txt | grep -v " => $PWD/$2/" | grep -vE '/lib(c|m|dl|rt|pthread|resolv)\.so'; then
    echo "try_archive: $file takes these from the system" >&2
    exit 1
  fi
done >&2
END

mkdir "$work/here"
tar -C "$work/here" -xzf "$archive"
(cd "$work/here" && bash "$work/commands.sh" "$OLDPWD" "$name" >"$work/here.sums")
commands=$(cat "$work/commands.sh")
for release in "${releases[@]}"; do
  # The unpacked archive and the script get there through a pipe: a bare system sees the source folder alone.
  scripts/packaging/bare_root.sh "$release" true
  # shellcheck disable=SC2016  # expanded there
  tar -C "$(dirname "$archive")" -cf - "$(basename "$archive")" |
    scripts/packaging/bare_root.sh "$release" bash -c '
      set -e
      mkdir /tmp/user && cd /tmp/user && tar -xf - && tar -xzf "$3.tar.gz" && rm "$3.tar.gz" && chown -R 65534:65534 .
      exec setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$1" commands "$2" "$3"' \
      bash "$commands" "$PWD" "$name" >"$work/$release.sums"
  cmp "$work/here.sums" "$work/$release.sums" || { echo "try_archive: other bytes on $release" >&2; exit 1; }
  echo "try_archive: $release: $(wc -l <"$work/$release.sums") files as on this machine, without root"
done
