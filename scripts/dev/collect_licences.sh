#!/usr/bin/env bash
# Copies the terms of what an installed folder holds of others: of the libraries that it carries, and of the packages
# whose headers or files are compiled into its programs.
#
# usage: scripts/dev/collect_licences.sh PREFIX [compiled-in]
#   compiled-in   of the second kind alone, for packages of a distribution, which carry no libraries
#
# PREFIX/share/doc/biogpu/licences gets a text for each package, in common/ the licences that these texts refer to,
# and NOTICES.tsv: what is carried, from which package and source. cmake --install runs it; where there is no dpkg it
# does nothing.
set -euo pipefail

prefix=${1:?usage: scripts/dev/collect_licences.sh PREFIX [compiled-in]}
command -v dpkg-query >/dev/null || exit 0
folder=$prefix/share/doc/biogpu/licences
rm -rf "$folder"
mkdir -p "$folder"
printf 'part\tpackage\tversion\tsource\tsource_version\tterms\n' >"$folder/NOTICES.tsv"

# notice PART PACKAGE: a line and the text; nothing where the package is not installed or has no text.
notice() {
  local text=/usr/share/doc/${2%%:*}/copyright
  [ -n "$2" ] && [ -f "$text" ] || return 0
  install -m 644 "$text" "$folder/${2%%:*}.txt"
  # shellcheck disable=SC2016  # dpkg-query's own fields
  dpkg-query -W -f '${Package}\t${Version}\t${source:Package}\t${source:Version}\n' "$2" |
    awk -v part="$1" '{ print part "\t" $0 "\t" $1 ".txt"; exit }' FS='\t' OFS='\t' >>"$folder/NOTICES.tsv"
}

# Headers that are compiled in, and Chart.js, which the report of qc carries.
compiled_in=(libcli11-dev nlohmann-json3-dev gemmi-dev tao-pegtl-dev libjs-chart.js libfmt-dev libhwy-dev libtbb-dev)
if compgen -G "$prefix/lib/biogpu/libbiogpu_rdkit.so" >/dev/null; then
  # Boost's headers are those of the version that libboost-dev stands for.
  boost=$(dpkg-query -W -f '${Depends}\n' libboost-dev 2>/dev/null | grep -oE 'libboost[0-9.]+-dev' | head -n 1 || true)
  compiled_in+=(librdkit-dev ${boost:+"$boost"})
fi
for package in "${compiled_in[@]}"; do
  if dpkg-query -W "$package" >/dev/null 2>&1; then notice "compiled in" "$package"; fi
done
if [ "${2:-}" != compiled-in ]; then
  for library in "$prefix"/lib/biogpu/*.so*; do
    [ -L "$library" ] && continue
    # Nothing for our own modules. A file may have moved from /lib to /usr/lib without dpkg's knowing.
    package=$({ dpkg-query -S "*-linux-gnu/$(basename "$library")" "/usr/lib/$(basename "$library")" 2>/dev/null || true; } | sed -n '1s/: .*//p')
    notice "lib/biogpu/$(basename "$library")" "${package%%,*}"
  done
fi

# Debian's texts refer to these by their place.
{ grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' --include='*.txt' "$folder" || true; } | sort -u | while read -r text; do
  if [ -f "$text" ]; then install -D -m 644 "$text" "$folder/common/$(basename "$text")"; fi
done
