# Functions that make a Debian system in a folder and run commands in it; sourced by rocm_root.sh and arm_root.sh.
# The caller has set 'root', the folder, and 'release', Debian's name of what is installed there, and calls
# make_root_once, which calls its make_root.
# shellcheck shell=bash disable=SC2154

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }
fail() { say "$*"; exit 3; }

# in_root COMMAND...: in the current folder, with the mounts of a running system, which end with the command. The
# repository and the compiler's cache keep their paths.
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
    mkdir -p "$root$repository" "$root$cache"  # again, as they may lie below /tmp
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

# Sets 'archive', the one that this machine installs from, and 'log'; makes the base system where it is not there.
make_base() {
  [ "$(id -u)" = 0 ] || fail "needs root: a system in a folder is entered with chroot"
  grep -qx 'ID=debian' /etc/os-release || fail "needs Debian's package archive"
  if ! command -v debootstrap >/dev/null; then
    # Lists that are there may do, and another installation may be under way.
    local reason command=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y debootstrap)
    reason=$({ "${command[@]}" || { apt-get update && "${command[@]}"; }; } 2>&1) ||
      fail "no debootstrap, and it could not be installed: $(tail -n 1 <<<"$reason")"
  fi
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
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # A machine that installs from a copy of the archive as it was has said that its lists may be old.
  apt-config dump Acquire::Check-Valid-Until >"$root/etc/apt/apt.conf.d/as-outside"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # can be made again: no need to sync
}

# install PACKAGE...: of the release; options of apt-get may come first. What an earlier installation that was
# interrupted has unpacked is configured first; what that lacks, apt-get says.
install() {
  in_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >>"$log" 2>&1 || true
  in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 ||
    fail "the package manager failed; its last lines: $(tail -n 5 "$log")"
}

# has_root WANT: whether the folder holds the system that was made from that list.
has_root() { [ "$(cat "$root/.ready" 2>/dev/null)" = "$1" ]; }

# make_root_once WANT: calls make_root where the folder does not hold the system made from that list. Other scripts
# that want the folder wait until it is whole. What make_root has started holds the lock, too: a system is not
# changed under a package manager that outlives a script.
make_root_once() {
  has_root "$1" && return
  local lock wait_s=${BIOGPU_ROOT_WAIT_S:-1800}
  mkdir -p "$(dirname "$root")"
  exec {lock}>"$root.lock" || fail "$root.lock cannot be written"
  if ! flock -n "$lock"; then
    say "another script makes $root; waiting for it, $wait_s s at most"
    flock -w "$wait_s" "$lock" || fail "another script still makes $root after $wait_s s; it holds $root.lock"
  fi
  has_root "$1" || make_root
  exec {lock}>&-
}

# finish_root WANT: it is whole.
finish_root() {
  in_root apt-get clean
  echo "$1" >"$root/.ready"
  say "$root is ready"
}

# run_in_root [COMMAND...]: without one, whether one could be run.
run_in_root() {
  if [ $# -eq 0 ]; then
    in_root true || fail "no command can be run in $root: mounts and chroot need a privileged process"
    exit 0
  fi
  in_root "$@"
}
