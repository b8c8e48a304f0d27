# Compiles through ccache where it is installed, for every preset. Paths are hashed relative to the
# source folder, so that builds in several folders and clones share objects.
if(BIOGPU_CCACHE)
  find_program(BIOGPU_CCACHE_PROGRAM ccache)
endif()
if(BIOGPU_CCACHE AND BIOGPU_CCACHE_PROGRAM)
  foreach(language CXX CUDA HIP)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${BIOGPU_CCACHE_PROGRAM}")
    endif()
  endforeach()
endif()

# A linker that is faster than GNU's, for builds that are linked often.
if(BIOGPU_FAST_LINKER)
  include(CheckLinkerFlag)
  foreach(linker mold lld)
    check_linker_flag(CXX "-fuse-ld=${linker}" BIOGPU_HAS_${linker})
    if(BIOGPU_HAS_${linker})
      add_link_options("$<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>")
      break()
    endif()
  endforeach()
endif()
