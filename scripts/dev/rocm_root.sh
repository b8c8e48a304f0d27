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

repository=$(cd "$(dirname "$0")/../.." && pwd)
root=${BIOGPU_ROCM_ROOT:-/var/cache/biogpu/rocm}
say() { printf 'rocm_root: %s\n' "$*" >&2; }
fail() { say "$*"; exit 3; }

# The programs that only users of the finished program want are left out: a build needs none of them.
mapfile -t build_packages < <("$repository/scripts/setup.sh" --list)
build_packages+=(catch2 libparasail-dev)
want="$release ${build_packages[*]} ${other_packages[*]} $rocm_release ${rocm_packages[*]}"

# in_root COMMAND...: with the mounts of a running system, which end with the command.
in_root() {
  local cache
  cache=$(ccache -k cache_dir 2>/dev/null || echo "$HOME/.cache/ccache")
  mkdir -p "$cache" "$root$cache" "$root$repository"
  # shellcheck disable=SC2016  # expanded by the inner shell
  root=$root repository=$repository cache=$cache folder=$PWD unshare --mount bash -c '
    set -e
    mount --bind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$repository" "$root$repository"
    mount --bind "$cache" "$root$cache"
    # The commands of a work tree lie in the folder of its repository.
    git=$(git -C "$repository" rev-parse --path-format=absolute --git-common-dir 2>/dev/null || true)
    if [ -n "$git" ] && [ ! -e "$root$git" ]; then mkdir -p "$root$git"; fi
    if [ -n "$git" ]; then mount --bind "$git" "$root$git"; fi
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      CCACHE_DIR="$cache" bash -c '\''cd "$0" && exec "$@"'\'' "$folder" "$@"
  ' in_root "$@"
}

make_root() {
  [ "$(id -u)" = 0 ] || fail "needs root: a system in a folder is entered with chroot"
  grep -qx 'ID=debian' /etc/os-release || fail "needs Debian's package archive"
  if ! command -v debootstrap >/dev/null; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y debootstrap; } >/dev/null 2>&1 ||
      fail "no debootstrap, and it could not be installed"
  fi
  # The archive is the one this machine installs from.
  local archive log
  # shellcheck disable=SC2016  # apt expands these itself
  archive=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
    awk '$2 !~ /-/ && $3 == "main" && $1 ~ /debian/ { print $1; exit }')
  [ -n "$archive" ] || fail "no Debian archive found in this machine's package sources"

  log=$root.log
  say "making $root from $archive; messages go to $log"
  if [ ! -f "$root/.base" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    # What it mounts ends with it, also when it is ended from outside.
    unshare --mount debootstrap --variant=minbase "$release" "$root" "$archive" >"$log" 2>&1 ||
      fail "debootstrap failed: $(tail -n 1 "$log")"
    touch "$root/.base"
  fi
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  printf "deb [signed-by=$key] $archive %s main\n" "$release" "$rocm_release" >"$root/etc/apt/sources.list"
  printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n' "$rocm_release" >"$root/etc/apt/preferences"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # A machine that installs from a copy of the archive as it was has said that its lists may be old.
  apt-config dump Acquire::Check-Valid-Until >"$root/etc/apt/apt.conf.d/as-outside"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # can be made again: no need to sync
  {
    in_root apt-get update &&
      in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        "${build_packages[@]}" "${other_packages[@]}" &&
      in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -t "$rocm_release" "${rocm_packages[@]}" &&
      in_root apt-get clean
  } >>"$log" 2>&1 || fail "the package manager failed; its last lines: $(tail -n 5 "$log")"
  echo "$want" >"$root/.ready"
  say "$root is ready"
}

if [ "$(cat "$root/.ready" 2>/dev/null)" != "$want" ]; then make_root; fi
if [ $# -eq 0 ]; then
  in_root true || fail "no command can be run in $root: mounts and chroot need a privileged process"
  exit 0
fi
in_root "$@"
