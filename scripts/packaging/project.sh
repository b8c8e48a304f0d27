# What packages tell of the project, in the one place that says it: sourced by the scripts that make packages.
# shellcheck shell=bash disable=SC2034
#
# Empty: there is none yet, and packages leave the lines out that would name it (fill.py). The environment can give
# another value.

# The page of the project.
BIOGPU_HOME=${BIOGPU_HOME:-}
# The folder of released files, as a URL: its files have the names that release.sh gives them.
BIOGPU_DOWNLOADS=${BIOGPU_DOWNLOADS:-}
# Who answers for packages: "Name <address>".
BIOGPU_MAINTAINER=${BIOGPU_MAINTAINER:-}

# The version, as CMakeLists.txt has it.
BIOGPU_VERSION=$(sed -n 's/^project(biogpu VERSION \([0-9.]*\).*/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../CMakeLists.txt")
# The time that files of packages get, so that the same commit gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "${BASH_SOURCE[0]}")" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
