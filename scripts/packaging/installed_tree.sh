# Builds and installs the program for packages that carry their libraries; sourced by archive.sh and wheel.sh.
# shellcheck shell=bash

# installed_tree PREFIX [BUILD]: installs a build there: the one in folder BUILD, else the preset cpu without tests in
# build/release. A developer's build has tests and benchmarks too, which no package has.
installed_tree() {
  local prefix=$1 build=${2:-}
  command -v patchelf >/dev/null || { echo "no patchelf here; scripts/setup.sh --package installs it" >&2; return 1; }
  if [ -z "$build" ]; then
    build=build/release
    cmake --preset cpu -B "$build" -DBIOGPU_DEVELOPER_MODE=OFF >/dev/null
    cmake --build "$build" -j "${BIOGPU_JOBS:-$(nproc)}"
  fi
  rm -rf "$prefix"
  cmake --install "$build" --prefix "$prefix" >/dev/null
  rm -rf "$prefix/bin/biogpu-bench" "$prefix/libexec/biogpu/tests" "$prefix/libexec/biogpu/gpu_test.sh"
  # The libraries of others are found through the program that loads them; each alone, too, finds the others here.
  find "$prefix/lib/biogpu" -type f -name '*.so*' ! -name 'libbiogpu_*' \
    -exec patchelf --force-rpath --set-rpath "\$ORIGIN" {} +
}

# programs_of PREFIX: every file of machine code there.
programs_of() {
  find "$1" -type f | while read -r file; do
    if [ "$(od -An -tx1 -N4 "$file")" = " 7f 45 4c 46" ]; then echo "$file"; fi
  done
}

# glibc_of PREFIX: the newest version of the C library that a file there asks for, as 2.36.
glibc_of() {
  programs_of "$1" | xargs objdump -T | grep -oE '\(?GLIBC_[0-9.]+' | grep -oE '[0-9.]+' | sort -uV | tail -n 1
}

# take_build_and_out [--build FOLDER] [FOLDER]: sets `build`, empty where none is given, and `out`, which is made.
take_build_and_out() {
  build=
  if [ "${1:-}" = --build ]; then
    build=${2:?usage: $0 [--build FOLDER] [FOLDER]}
    shift 2
  fi
  out=${1:-build/packages}
  mkdir -p "$out"
}
