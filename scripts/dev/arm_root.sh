#!/usr/bin/env bash
# Makes a Debian system in a folder that compiles for Arm (aarch64) and runs the result under qemu-user, and runs
# commands in it; the program's part of arm_test.sh.
#
# usage: scripts/dev/arm_root.sh                   makes it, where it is not there yet
#        scripts/dev/arm_root.sh COMMAND [ARG...]  also runs a command there, in the current folder
#
# BIOGPU_ARM_ROOT is the folder, default /var/cache/biogpu/arm, of some 1.2 GB. Needs root, Debian's archive and
# debootstrap, which is installed where it is missing. Compilers and tools are those of this machine's processor,
# libraries those of aarch64, both of Debian 12.
#
# Exit status: the command's; 3 when the system cannot be made here.
set -uo pipefail

release=bookworm
root=${BIOGPU_ARM_ROOT:-/var/cache/biogpu/arm}
# shellcheck source=scripts/dev/debian_root.sh
. "$(dirname "$0")/debian_root.sh"

tools=(g++-aarch64-linux-gnu cmake ninja-build pkg-config ccache git ca-certificates python3 qemu-user-static)
libraries=()
while read -r package; do
  case $package in
    lib*-dev) libraries+=("$package:arm64") ;;
    *-dev | lib*) libraries+=("$package") ;;  # headers for every architecture
  esac
done < <("$repository/scripts/setup.sh" --list)
# What the tests need besides.
libraries+=(catch2 zlib1g-dev:arm64 libparasail-dev:arm64)
mapfile -t libraries < <(printf '%s\n' "${libraries[@]}" | grep -vxE 'libcli11-dev:arm64|zlib1g-dev' && echo libcli11-dev)
want="$release ${tools[*]} ${libraries[*]}"

make_root() {
  local archive log
  make_base
  in_root dpkg --add-architecture arm64
  in_root apt-get update >>"$log" 2>&1 || fail "the package lists cannot be fetched: $(tail -n 1 "$log")"
  install "${tools[@]}"
  install "${libraries[@]}"
  finish_root "$want"
}

make_root_once "$want"
run_in_root "$@"
