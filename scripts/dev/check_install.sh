#!/usr/bin/env bash
# Checks that an installed folder can travel: it is moved, it carries every library but the C library's
# own, its program aligns the bundled sequences there, and its example in C is compiled and linked with its header
# and library and gives the numbers of the command.
#
# usage: scripts/dev/check_install.sh BUILD_FOLDER
set -euo pipefail

build=${1:?usage: scripts/dev/check_install.sh BUILD_FOLDER}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "check_install: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved

glibc='^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv)\.so'
mapfile -t files < <(find "$prefix/bin" "$prefix/libexec" "$prefix/lib" -type f \
  \( -perm -u+x -o -name '*.so*' \) ! -name '*.sh' ! -path '*/compat/*' 2>/dev/null)
for file in "${files[@]}"; do
  while read -r library; do
    if [[ ! $library =~ $glibc ]] && [ ! -e "$prefix/lib/biogpu/$library" ]; then
      fail "${file#"$prefix"/} needs $library, which the folder does not carry"
    fi
  done < <(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }')
done
# The loader's own view, of the program and of the modules that it opens: nothing but glibc from outside.
for file in "$prefix/bin/biogpu" "$prefix"/lib/biogpu/libbiogpu_{bigwig,chemistry,images,rdkit}.so; do
  [ -e "$file" ] || continue
  outside=$(env -i ldd "$file" | awk '$2 == "=>" { print $3 }' | grep -v "^$prefix" |
    xargs -r -n 1 basename | grep -v -E "$glibc" || true)
  [ -z "$outside" ] || fail "${file#"$prefix"/} takes $outside from the machine"
done
for module in bigwig chemistry images rdkit; do
  if [ -e "$build/apps/biogpu/libbiogpu_$module.so" ]; then
    [ -e "$prefix/lib/biogpu/libbiogpu_$module.so" ] || fail "libbiogpu_$module.so is not installed"
  fi
done

data=$prefix/share/biogpu/data
env -i "$prefix/bin/biogpu" devices >/dev/null
env -i "$prefix/bin/biogpu" align --quiet --device cpu --mode sw --pairs --match 2 --mismatch -3 \
  "$data/lambda_reads.fq.gz" "$data/lambda_windows.fa" -o "$work/out.tsv"
rows=$(wc -l <"$work/out.tsv")
[ "$rows" = 201 ] || fail "expected 201 lines, got $rows"

# As tests/c_api/programs_test.sh compares the library of the build.
model=$(cd "$(dirname "$0")/../.." && pwd)/tests/data/models/tensornet/matgl
printf '2\n\nSi 0 0 0\nSi 2.3 0 0\n' >"$work/pair.xyz"
env -i "$prefix/bin/biogpu" infer energy --quiet --device cpu --forces --model "$model" "$work/pair.xyz" \
  -o "$work/pair.tsv"
"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -pedantic -I"$prefix/include" \
  "$prefix/share/doc/biogpu/examples/energy.c" -L"$prefix/lib" -lbiogpu_potential "-Wl,-rpath,$prefix/lib" \
  -o "$work/energy"
env -i ldd "$work/energy" >"$work/libraries.txt"
grep -q "libbiogpu_potential.so.* => $prefix/lib/" "$work/libraries.txt" ||
  fail "the example does not load the library of the folder"
env -i "$work/energy" "$model" 14 2.3 >"$work/printed.txt"
energy=$(tail -n 1 "$work/pair.tsv" | cut -f 3)
force=$(tail -n 1 "$work/pair.tsv" | cut -f 4)
grep -qx "energy $energy eV" "$work/printed.txt" || fail "the C library's energy is not the command's, $energy eV"
grep -qxE "force -?$force eV/A" "$work/printed.txt" || fail "the C library's force is not the command's, $force eV/A"
version=$(env -u BIOGPU PYTHONPATH="$prefix/share/biogpu/python" PYTHONDONTWRITEBYTECODE=1 python3 -c 'import biogpu; print(biogpu.version())')
[ "biogpu $version" = "$("$prefix/bin/biogpu" --version | head -n 1)" ] || fail "the Python package does not find the program"
if command -v dpkg-query >/dev/null; then
  for package in libcli11-dev nlohmann-json3-dev gemmi-dev tao-pegtl-dev libjs-chart.js; do
    [ -s "$prefix/share/doc/biogpu/licences/$package.txt" ] || fail "no notice of $package"
  done
  for library in "$prefix"/lib/biogpu/*.so*; do
    [ -L "$library" ] || [[ $library == */libbiogpu_* ]] ||
      grep -q "^lib/biogpu/$(basename "$library")"$'\t' "$prefix/share/doc/biogpu/licences/NOTICES.tsv" ||
      fail "no notice of $(basename "$library")"
  done
fi
[ -e "$prefix/share/biogpu/pipelines/nextflow/modules/biogpu/align/main.nf" ] || fail "there are no Nextflow modules"
[ -e "$prefix/share/doc/biogpu/docs/guide/README.md" ] || fail "the pages are not installed"
python3 "$prefix/share/biogpu/convert/alphagenome_tracks.py" --help >/dev/null || fail "the converters do not run"
# What users carry; the tests and benchmarks of a developer's build, each with every kernel in it, come on top. Of a
# CUDA build the program has 18 MiB, the C library, which holds the kernels once more, 12, and copies of libraries 29.
size=$(du -sm --exclude=tests --exclude=biogpu-bench "$prefix" | cut -f1)
[ "$size" -le 80 ] || fail "the folder has $size MiB, more than 80"
echo "check_install: ${#files[@]} files, $size MiB, runs and serves a program in C after being moved"
