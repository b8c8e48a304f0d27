#!/usr/bin/env bash
# Makes an archive of the program that is unpacked anywhere, without root, and runs: with every library but the C
# library, notices of all that is carried or compiled in, pages, converters, and sums of its files.
#
# usage: scripts/packaging/archive.sh [--build FOLDER] [FOLDER]      [build/packages]
#   --build FOLDER   packs this build, else the preset cpu is built in build/release
#
# The archive runs where the C library is at least that of the machine that builds: made on Debian 12 it runs on
# Debian 12 and 13 and Ubuntu 24.04. try_archive.sh tries it on bare systems.
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
# shellcheck source=scripts/packaging/installed_tree.sh
. scripts/packaging/installed_tree.sh
take_build_and_out "$@"

name=biogpu-$BIOGPU_VERSION-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
installed_tree "$stage/$name" "$build"
cat >"$stage/$name/README.txt" <<END
biogpu $BIOGPU_VERSION for Linux on $(uname -m), for the CPU. It needs glibc $(glibc_of "$stage/$name") or newer, and nothing else.

  export PATH=\$PWD/bin:\$PATH
  biogpu --help

The folder can be moved. Its pages are in share/doc/biogpu/docs, completions and manual pages in share,
converters of weights in share/biogpu/convert, the Python package in share/biogpu/python.
share/doc/biogpu/licences has the terms of what is carried and compiled in; NOTICES.tsv lists it with the packages
and sources of Debian that it comes from. sha256sum -c SHA256SUMS checks the files.
END
(cd "$stage/$name" && find . -type f -print0 | sort -z | xargs -0 sha256sum >"$stage/sums" && mv "$stage/sums" SHA256SUMS)
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
  -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
