#!/usr/bin/env bash
# Installs what biogpu is built from, with the system's package manager and from nowhere else.
#
# usage: scripts/setup.sh [--dev] [--package] [--list]
#   --dev      also what the tests, the checks and .ci/run use
#   --package  also what the scripts of scripts/packaging use
#   --list     print the packages and stop
#
# Knows Debian 12 and Ubuntu 24.04; uses sudo only when not root; touches nothing when all is there.
# docs/design/dependencies.md gives the reason for each package.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build pkg-config python3
  libhwy-dev libtbb-dev libisal-dev libdeflate-dev libhts-dev zlib1g-dev
  libfmt-dev libcli11-dev nlohmann-json3-dev libjs-chart.js
  gemmi-dev tao-pegtl-dev libbigwig-dev
  libpng-dev libjpeg-dev libtiff-dev
  librdkit-dev libboost-dev
)
dev_packages=(
  bwa fastp jellyfish snakemake multiqc man-db zsh fish
  mandoc hunspell hunspell-en-us
  kmc libseqan2-dev libdivsufsort-dev bedtools bcftools tabix
  catch2 libparasail-dev parasail libboost-context-dev samtools git ccache
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev shellcheck
)
package_packages=(
  debhelper dh-python dpkg-dev fakeroot file lintian xz-utils git python3-venv debootstrap buildah patchelf
)

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

packages=("${build_packages[@]}")
list=0
for argument in "$@"; do
  case $argument in
    --dev) packages+=("${dev_packages[@]}") ;;
    --package) packages+=("${package_packages[@]}") ;;
    --list) list=1 ;;
    *) sed -n '4,7p' "$0" | cut -c3- >&2; exit 2 ;;
  esac
done
if [ $list = 1 ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

for tool in apt-get dpkg-query; do
  command -v "$tool" >/dev/null ||
    fail "no $tool here; install these by their names on this system: ${packages[*]}"
done

# A package counts as present also where another one provides it (pkg-config by pkgconf).
present() {
  dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q 'ok installed$' ||
    { [ "$1" = pkg-config ] && command -v pkg-config >/dev/null; }
}

missing=()
for package in "${packages[@]}"; do
  present "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || fail "as root, install: ${missing[*]}"
  as_root=(sudo)
fi
say "installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 15 "$log" >&2
  fail "the package manager failed; above are its last lines"
fi
say "done"
