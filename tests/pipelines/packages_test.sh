#!/usr/bin/env bash
# How packages are made: fields of templates, the recipe, the wheel, the notices, Debian's files. That the packages work is
# tried by scripts/packaging/try_archive.sh and try_wheel.sh, which need bare systems.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

packaging=$source_dir/scripts/packaging
version=$("$biogpu" --version | sed -n '1s/biogpu //p')
unset BIOGPU_HOME BIOGPU_DOWNLOADS BIOGPU_MAINTAINER
export SOURCE_DATE_EPOCH=1700000000
attempt() { # COMMAND...
  last_command=$*
  "$@" >out.txt 2>err.txt
  rc=$?
}

# Fields.
printf 'name @NAME@ end\nhome @HOME@\nplain\nboth @NAME@ @HOME@\n' >template
attempt python3 "$packaging/fill.py" template NAME=x HOME=
check "lines of empty fields are left out" out_is 'name x end\nplain\n'
attempt python3 "$packaging/fill.py" template NAME=x 'HOME=a & \1'
check "values are taken as they are" out_is 'name x end\nhome a & \\1\nplain\nboth x a & \\1\n'
attempt python3 "$packaging/fill.py" template HOME=
check "a field without a value is an error" rc_is 1
check "and named" err_has '^fill.py: template:1: no value for NAME$'

# The recipe, rendered as conda does.
mkdir archives
echo archive >"archives/biogpu-$version.tar.gz"
attempt "$packaging/recipe.sh" archives recipe
check "a recipe needs the place of the archive" rc_is 1
check "and says so" err_has '^recipe: no BIOGPU_DOWNLOADS'
BIOGPU_DOWNLOADS=https://example.org/files BIOGPU_HOME=https://example.org attempt "$packaging/recipe.sh" archives recipe
check "a recipe" rc_is 0
check "with its script" test -x recipe/build.sh
for python in python3 /usr/bin/python3 ''; do
  [ -z "$python" ] || ! "$python" -c 'import jinja2, yaml' 2>/dev/null || break
done
if [ -n "$python" ]; then
  cat >render.py <<'END'
import hashlib
import sys

import jinja2
import yaml

version = sys.argv[1]
with open("recipe/meta.yaml", encoding="utf-8") as file:
    text = file.read()
assert "@" not in text
stubs = {"compiler": lambda language: f"{language}_compiler", "stdlib": lambda language: f"{language}_stdlib",
         "pin_subpackage": lambda name, max_pin: f"{name} {max_pin}"}
recipe = yaml.safe_load(jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(stubs))
with open(f"archives/biogpu-{version}.tar.gz", "rb") as file:
    assert recipe["source"] == {"url": f"https://example.org/files/biogpu-{version}.tar.gz",
                                "sha256": hashlib.sha256(file.read()).hexdigest()}
assert recipe["package"] == {"name": "biogpu", "version": version}
assert {"cxx_compiler", "c_stdlib"} <= set(recipe["requirements"]["build"])
assert recipe["about"]["home"] == "https://example.org" and recipe["about"]["license"] == "MIT"
assert len(recipe["test"]["commands"]) >= 5
END
  attempt "$python" render.py "$version"
  check "renders and has what bioconda wants" rc_is 0
else
  echo "SKIPPED: no jinja2 and yaml here, so that the recipe was not rendered"
fi

# A wheel of a small folder: files under one name, sums, the same bytes again.
mkdir -p prefix/bin prefix/lib/biogpu prefix/share/doc/biogpu prefix/share/biogpu/python
cp /bin/true prefix/bin/biogpu
cp /bin/true prefix/lib/libbiogpu_potential.so.0.1.0
ln -s libbiogpu_potential.so.0.1.0 prefix/lib/libbiogpu_potential.so.1
ln -s libbiogpu_potential.so.1 prefix/lib/libbiogpu_potential.so
cp /bin/true prefix/lib/biogpu/libunused.so.3.1
cp /bin/true prefix/lib/biogpu/libc.so.6
cp "$source_dir/LICENSE" "$source_dir/CITATION.cff" prefix/share/doc/biogpu
cp -r "$source_dir/scripts/python/biogpu" "$source_dir/scripts/python/biogpu_blocks" prefix/share/biogpu/python
find prefix -name __pycache__ -exec rm -r {} +
mkdir wheels again
attempt python3 "$packaging/make_wheel.py" prefix "$version" linux_x86_64 wheels
check "a wheel" rc_is 0
python3 "$packaging/make_wheel.py" prefix "$version" linux_x86_64 again >/dev/null
wheel=biogpu-$version-py3-none-linux_x86_64.whl
check "the same bytes" same_files "wheels/$wheel" "again/$wheel"
cat >look.py <<'END'
import base64
import hashlib
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = set(wheel.namelist())
    info = next(name for name in names if name.endswith("/RECORD"))
    for line in wheel.read(info).decode().splitlines():
        name, digest, size = line.rsplit(",", 2)
        if name != info:
            content = wheel.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert digest == "sha256=" + expected and int(size) == len(content), name
        names.discard(name)
    assert not names, names
    installed = {name for name in wheel.namelist() if "/installed/" in name}
    libraries = {name.rsplit("/", 1)[1] for name in installed if ".so" in name}
    assert libraries == {"libbiogpu_potential.so.1", "libc.so.6"}, libraries
    assert wheel.getinfo("biogpu/installed/bin/biogpu").external_attr >> 16 & 0o111
    assert b"biogpu = biogpu.program:main" in wheel.read(info.replace("RECORD", "entry_points.txt"))
    assert b"Home-page" not in wheel.read(info.replace("RECORD", "METADATA"))
END
attempt python3 look.py "wheels/$wheel"
check "has what it lists, a library under the name that is loaded" rc_is 0

# Notices of what is carried and compiled in.
if command -v dpkg-query >/dev/null; then
  hts=$(ldconfig -p | awk '$1 == "libhts.so.3" { print $NF; exit }')
  cp "$(realpath "$hts")" prefix/lib/biogpu/libhts.so.3
  attempt "$source_dir/scripts/dev/collect_licences.sh" prefix
  check "notices" rc_is 0
  notices=prefix/share/doc/biogpu/licences
  check "of a library" grep -qP '^lib/biogpu/libhts.so.3\tlibhts3\t' $notices/NOTICES.tsv
  check "with its text" grep -q htslib $notices/libhts3.txt
  for package in libcli11-dev nlohmann-json3-dev gemmi-dev tao-pegtl-dev libjs-chart.js; do
    check "of $package" grep -qP "^compiled in\t$package\t" $notices/NOTICES.tsv
    check "with its text" test -s $notices/$package.txt
  done
  check "licences that texts refer to" test -s $notices/common/MPL-2.0
  attempt "$source_dir/scripts/dev/collect_licences.sh" prefix compiled-in
  check "of what is compiled in alone" bash -c "! grep -q libhts3 $notices/NOTICES.tsv && grep -q libcli11-dev $notices/NOTICES.tsv"
else
  echo "SKIPPED: no dpkg here, so that no notices were collected"
fi

# Debian's files: each field is filled, files that copyright names are there, what is installed is built.
for file in control changelog copyright watch; do
  attempt python3 "$packaging/fill.py" "$packaging/debian/$file" "VERSION=$version" "MAINTAINER=A B <a@example.org>" HOME= \
    DOWNLOADS= BUILD_DEPENDS=cmake "DATE=Mon, 01 Jan 2024 00:00:00 +0000"
  check "debian/$file is filled" rc_is 0
  check "debian/$file names no address" bash -c '! grep -q "^\(Homepage\|Source: http\)" out.txt'
  cp out.txt "$file"
done
while read -r file; do check "copyright: $file" test -e "$source_dir/$file"; done < <(sed -n 's/^Files: //p' copyright | tr ' ' '\n' | grep -v '^\*$')
check "packages have files" bash -c "for package in \$(sed -n 's/^Package: //p' control); do [ -s '$packaging/debian/'\$package.install ] || exit 1; done"
if command -v nm >/dev/null; then
  library=$(find "$(dirname "$biogpu")/../../lib/c_api" -name 'libbiogpu_potential.so.1' 2>/dev/null | head -n 1)
  nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >exported.txt
  sed -n 's/^ \(.*\)@.*/\1/p' "$packaging/debian/libbiogpu-potential1.symbols" | sort >listed.txt
  check "debian/libbiogpu-potential1.symbols" same_files exported.txt listed.txt
fi
unset DEBEMAIL
if command -v dpkg-buildpackage dh dh_python3 file lintian >/dev/null; then
  attempt "$packaging/deb.sh" --source deb
  check "somebody has to answer for a package" err_has '^deb: nobody answers for the package'
fi
attempt "$packaging/release.sh" "$work/release"
check "a release needs its addresses" err_has '^release: no BIOGPU_HOME'
check "and leaves nothing" absent "$work/release"
finish
