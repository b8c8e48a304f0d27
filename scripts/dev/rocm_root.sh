#!/usr/bin/env bash
# Makes a Debian system with ROCm in a folder, for builds with the preset rocm on a machine without AMD's
# software or cards, and runs commands in it.
#
# usage: scripts/dev/rocm_root.sh                   makes it, where it is not there yet
#        scripts/dev/rocm_root.sh COMMAND [ARG...]  also runs a command there, in the current folder
#
# BIOGPU_ROCM_ROOT is the folder, default /var/cache/biogpu/rocm, of some 1.6 GB. Needs root, Debian's
# archive and debootstrap, which is installed where it is missing. The libraries that biogpu is built from
# are those of Debian's stable release; ROCm's parts and what they need come from its unstable one.
#
# A command sees the repository and the compiler's cache under their own paths; mounts vanish with it.
# Exit status: the command's; 3 when the system cannot be made here.
set -uo pipefail

release=trixie
rocm_release=sid
# hipcc brings the compiler and the runtime; the program uses no other library of ROCm's.
rocm_packages=(hipcc libamdhip64-dev libhipcub-dev librocprim-dev)
other_packages=(ca-certificates git ccache)
root=${BIOGPU_ROCM_ROOT:-/var/cache/biogpu/rocm}
# shellcheck source=scripts/dev/debian_root.sh
. "$(dirname "$0")/debian_root.sh"

# The programs that only users of the finished program want are left out: a build needs none of them.
mapfile -t build_packages < <("$repository/scripts/setup.sh" --list)
build_packages+=(catch2 libparasail-dev)
want="$release ${build_packages[*]} ${other_packages[*]} $rocm_release ${rocm_packages[*]}"

make_root() {
  local archive log
  make_base
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  printf "deb [signed-by=$key] $archive %s main\n" "$release" "$rocm_release" >"$root/etc/apt/sources.list"
  printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n' "$rocm_release" >"$root/etc/apt/preferences"
  in_root apt-get update >>"$log" 2>&1 || fail "the package lists cannot be fetched: $(tail -n 1 "$log")"
  install "${build_packages[@]}" "${other_packages[@]}"
  install -t "$rocm_release" "${rocm_packages[@]}"
  finish_root "$want"
}

make_root_once "$want"
run_in_root "$@"
