#!/usr/bin/env bash
# Copies the licence texts of the distribution packages whose libraries an installed folder carries.
#
# usage: scripts/dev/collect_licences.sh PREFIX
#
# cmake --install runs it; where there is no dpkg it does nothing.
set -euo pipefail

prefix=${1:?usage: scripts/dev/collect_licences.sh PREFIX}
command -v dpkg-query >/dev/null || exit 0
for library in "$prefix"/lib/biogpu/*.so*; do
  # Empty for our own modules.
  package=$({ dpkg-query -S "*-linux-gnu/$(basename "$library")" 2>/dev/null || true; } | sed -n '1s/:.*//p')
  text=/usr/share/doc/$package/copyright
  if [ -n "$package" ] && [ -f "$text" ]; then
    install -D -m 644 "$text" "$prefix/share/doc/biogpu/licences/$package.txt"
  fi
done
