#!/usr/bin/env bash
# Prepares .rocm/, the prefix that compile checks for AMD GPUs need where no ROCm is installed.
#
# usage: scripts/dev/rocm_prefix.sh [PREFIX]        default: .rocm in the repository's root
#
# The compiler (clang, lld) is installed from the machine's own Debian 12. Device bitcode and HIP
# headers are newer than Debian 12, so their packages are taken from later Debian releases and only
# unpacked into PREFIX: nothing of them is installed, and the machine's package sources stay as they
# are. apt checks the archive's signatures as for any other package.
set -euo pipefail

# The bitcode must come from an LLVM not newer than the compiler, hence an older one than the headers.
compiler_packages=(clang-19 lld-19 clang-tools-19)
bitcode_release=trixie
bitcode_packages=(rocm-device-libs-17)
header_release=sid
header_packages=(libamdhip64-dev libhipcub-dev librocprim-dev)

say() { printf 'rocm_prefix: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

root=$(cd "$(dirname "$0")/../.." && pwd)
prefix=${1:-$root/.rocm}
stamp=$prefix/.ready
want="${bitcode_release} ${bitcode_packages[*]} ${header_release} ${header_packages[*]}"
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

id=$(sed -n 's/^ID=//p' /etc/os-release)
[ "$id" = debian ] || fail "needs Debian's package archive; this is $id"

missing=()
for package in "${compiler_packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  if ! log=$({ "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } 2>&1); then
    tail -n 15 <<<"$log" >&2
    fail "the package manager failed; above are its last lines"
  fi
fi

if [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$want" ]; then
  say "$prefix is ready"
  exit 0
fi

# The archive is the one this machine installs from.
# shellcheck disable=SC2016  # apt expands these itself
archive=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
  awk '$2 !~ /-/ && $3 == "main" && $1 ~ /debian/ { print $1; exit }')
[ -n "$archive" ] || fail "no Debian archive found in this machine's package sources"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keyring" ] || fail "$keyring is missing; install debian-archive-keyring"

rm -rf "$prefix"
mkdir -p "$prefix"/apt/{lists/partial,cache/archives/partial,etc}
cd "$prefix/apt"
for release in "$bitcode_release" "$header_release"; do
  echo "deb [signed-by=$keyring] $archive $release main"
done >etc/sources.list
touch etc/status
# A private state: its own sources, lists and idea of what is installed (nothing).
apt_options=(
  -o "Dir::Etc::SourceList=$PWD/etc/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
  -o "Dir::State::Lists=$PWD/lists" -o "Dir::State::status=$PWD/etc/status"
  -o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User= -o Acquire::Languages=none
  -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success=
)
say "reading the package lists of $bitcode_release and $header_release"
apt-get "${apt_options[@]}" -qq update
say "fetching ${bitcode_packages[*]} ${header_packages[*]}"
apt-get "${apt_options[@]}" -qq download \
  "${bitcode_packages[@]/%//$bitcode_release}" "${header_packages[@]/%//$header_release}"

mkdir unpacked
for package in ./*.deb; do
  dpkg-deb -x "$package" unpacked
done
# share/hip/version among them: without it clang takes the tree for one without the HIP runtime.
mv unpacked/usr/* "$prefix/"
# Debian puts the bitcode under the compiler's folder; ROCm's own place is amdgcn/bitcode.
bitcode=$(find "$prefix/lib" -name 'oclc_isa_version_90a.bc' -printf '%h\n' | head -n 1)
[ -n "$bitcode" ] || fail "${bitcode_packages[*]} holds no bitcode for gfx90a"
mkdir -p "$prefix/amdgcn" "$prefix/llvm"
ln -s "$bitcode" "$prefix/amdgcn/bitcode"
ln -s "$(dirname "$(readlink -f "$(command -v clang++-19)")")" "$prefix/llvm/bin"
{
  echo "$want"
  for package in ./*.deb; do basename "$package"; done
} >"$prefix/versions"
cd "$root"
rm -rf "$prefix/apt"
for file in include/hip/hip_runtime.h share/hip/version; do
  [ -f "$prefix/$file" ] || fail "the packages hold no $file"
done
mv "$prefix/versions" "$stamp"
say "$prefix is ready: $(tail -n +2 "$stamp" | tr '\n' ' ')"
