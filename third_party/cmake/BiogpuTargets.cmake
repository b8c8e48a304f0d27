# Settings that every target of the project shares, as one interface target: no global flags.
add_library(biogpu_options INTERFACE)
target_include_directories(biogpu_options INTERFACE "${PROJECT_SOURCE_DIR}"
                                                    "${PROJECT_BINARY_DIR}/generated")
target_compile_options(
  biogpu_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wpedantic>"
                           "$<$<AND:$<BOOL:${BIOGPU_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>")
# GCC 12's std::stable_sort uses a deprecated function; Clang 16 and later warn.
target_compile_options(biogpu_options
                       INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-error=deprecated-declarations>")
if(BIOGPU_SANITIZE)
  target_compile_options(
    biogpu_options
    INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${BIOGPU_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>"
  )
  # GCC's flow analysis warns about the standard library itself once it is instrumented.
  target_compile_options(biogpu_options
                         INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  target_link_options(biogpu_options INTERFACE "-fsanitize=${BIOGPU_SANITIZE}")
endif()

# A unity build (preset cpu) parses the headers that sources share once for several of them.
if(CMAKE_UNITY_BUILD)
  # Takes a unity file's sources for headers and warns about their anonymous namespaces.
  target_compile_options(biogpu_options
                         INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endif()

# Sources that Highway compiles once for each instruction set include themselves: they stay alone.
function(biogpu_keep_simd_apart)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    if(NOT EXISTS "${path}")  # made by the build
      continue()
    endif()
    file(STRINGS "${path}" includes REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(includes)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# biogpu_library(NAME SOURCES ... [LINK ...]): a static library of lib/ or gpu/ with its alias.
function(biogpu_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(biogpu_${name} STATIC ${ARG_SOURCES})
  biogpu_keep_simd_apart(${ARG_SOURCES})
  add_library(biogpu::${name} ALIAS biogpu_${name})
  target_link_libraries(biogpu_${name} PUBLIC biogpu_options ${ARG_LINK})
endfunction()

# Seconds that one executable of unit tests may take.
set(BIOGPU_UNIT_TIMEOUT 600)
if(CMAKE_CROSSCOMPILING)  # an emulator runs it
  set(BIOGPU_UNIT_TIMEOUT 3600)
endif()

# biogpu_test(NAME SOURCES ... [LINK ...] [LABELS ...] [ENVIRONMENT ...]): one Catch2 executable as
# one CTest entry. Kernel tests register themselves once per wave width through ENVIRONMENT.
function(biogpu_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE biogpu_test_support ${ARG_LINK})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${BIOGPU_UNIT_TIMEOUT})
  # Without the GPU backend every build runs the same code: scripts/test.sh runs it once.
  if("unit" IN_LIST ARG_LABELS AND NOT "${ARG_LINK}" MATCHES "biogpu::gpu|biogpu_potential")
    set_property(TEST ${name} APPEND PROPERTY LABELS host)
  endif()
  if("gpu" IN_LIST ARG_LABELS)  # BiogpuInstall.cmake installs these for machines with a GPU
    set_property(GLOBAL APPEND PROPERTY BIOGPU_GPU_TESTS ${name})
  endif()
endfunction()

# biogpu_gpu_test(NAME [SLOW] SOURCES ... [LINK ...]): one executable; under emulation it runs once for each
# wave width, its threads taking their turns in a random order. Nothing in a build without a GPU.
function(biogpu_gpu_test name)
  if(BIOGPU_GPU STREQUAL "none")
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE biogpu_test_support biogpu::gpu biogpu::gpu_backend
                                        ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY BIOGPU_GPU_TESTS ${name})  # installed: BiogpuInstall.cmake
  if(NOT BIOGPU_GPU STREQUAL "emulated")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "gpu" TIMEOUT 600 SKIP_RETURN_CODE 77)
    return()
  endif()
  set(labels gpu)
  if(ARG_SLOW)
    list(APPEND labels slow)
  endif()
  foreach(wave 32 64)
    add_test(NAME ${name}_wave${wave} COMMAND ${name})
    set_tests_properties(
      ${name}_wave${wave}
      PROPERTIES LABELS "${labels}" TIMEOUT 900 ENVIRONMENT
                 "BIOGPU_EMULATED_WAVE=${wave};BIOGPU_EMULATED_ORDER=${wave};BIOGPU_REQUIRE_GPU=1")
  endforeach()
endfunction()

# biogpu_add_on_demand(FOLDER): the target on_demand builds every target of a folder and those below
# it that 'all' leaves out, so that one command shows whether they still compile.
function(biogpu_add_on_demand folder)
  if(NOT TARGET on_demand)
    add_custom_target(on_demand)
  endif()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(is_left_out ${target} EXCLUDE_FROM_ALL)
    if(is_left_out)
      add_dependencies(on_demand ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    biogpu_add_on_demand("${below}")
  endforeach()
endfunction()
