# cmake -DSOURCE=... -DGIT=... -DOUT=... -P WriteBuildCommit.cmake: a header with the commit of the
# source folder, with -dirty behind it where tracked files differ, and its day; empty for a source
# archive, even one that lies inside of another project's repository. Written only where it changes.
cmake_minimum_required(VERSION 3.25)

set(commit "")
set(date "")
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(
    COMMAND "${GIT}" --no-optional-locks -C "${SOURCE}" describe --always --dirty --exclude=* --abbrev=12
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND "${GIT}" --no-optional-locks -C "${SOURCE}" log -1 --format=%cs
    OUTPUT_VARIABLE date
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUT}"
     CONTENT "#pragma once\n\n#define BIOGPU_COMMIT \"${commit}\"\n#define BIOGPU_COMMIT_DATE \"${date}\"\n")
