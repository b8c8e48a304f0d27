# A relocatable folder: the programs, and beside them every shared library except the C library's
# own, so that a build made here runs on any x86-64 machine with the same or a newer glibc.
#
#   bin/biogpu  bin/biogpu-bench      libexec/biogpu/tests/   (the last two in developer mode)
#   lib/biogpu/*.so                   share/biogpu/data/      share/doc/biogpu/

set(BIOGPU_PRIVATE_LIBDIR lib/biogpu)

# biogpu_install(TARGET DESTINATION): installs a program or module that finds the private libraries.
function(biogpu_install target destination)
  # From bin: ../lib/biogpu; from libexec/biogpu/tests: ../../../lib/biogpu.
  file(RELATIVE_PATH to_libraries "/${destination}" "/${BIOGPU_PRIVATE_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}"
                                             INSTALL_RPATH_USE_LINK_PATH OFF)
  # DT_RPATH also serves the libraries' own dependencies, which DT_RUNPATH does not.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS ${target} RUNTIME_DEPENDENCY_SET biogpu_libraries
          RUNTIME DESTINATION ${destination} LIBRARY DESTINATION ${destination})
endfunction()

biogpu_install(biogpu bin)
if(TARGET biogpu-bench)
  biogpu_install(biogpu-bench bin)
endif()
# The AMD backend, opened at run time.
if(TARGET biogpu_rocm)
  biogpu_install(biogpu_rocm ${BIOGPU_PRIVATE_LIBDIR})
endif()
# On a machine with a GPU the tests run from the installed folder; scripts/gpu_test.sh does it.
if(BIOGPU_DEVELOPER_MODE AND BIOGPU_GPU MATCHES "^(cuda|rocm)$")
  get_property(gpu_tests GLOBAL PROPERTY BIOGPU_GPU_TESTS)
  foreach(test IN LISTS gpu_tests)
    biogpu_install(${test} libexec/biogpu/tests)
  endforeach()
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/gpu_test.sh" DESTINATION libexec/biogpu)
endif()

# glibc and the drivers are the machine's own. AMD's runtime brings C++ code that wants the machine's
# libstdc++, so a ROCm build must not put an older one before it.
set(not_ours
    "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec|nss_.*|thread_db)\\.so"
    "^libcuda\\.so" "^libnvidia" "^libamdhip64" "^libhsa-runtime" "^linux-vdso")
if(BIOGPU_GPU STREQUAL "rocm")
  list(APPEND not_ours "^libstdc\\+\\+\\.so" "^libgcc_s\\.so")
endif()
install(RUNTIME_DEPENDENCY_SET biogpu_libraries PRE_EXCLUDE_REGEXES ${not_ours}
        LIBRARY DESTINATION ${BIOGPU_PRIVATE_LIBDIR})

install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/" DESTINATION share/biogpu/data)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/LICENSE"
              "${PROJECT_SOURCE_DIR}/NEWS.md" DESTINATION share/doc/biogpu)
# The carried libraries' own terms travel with them.
install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/dev/collect_licences.sh\"
                              \"\${CMAKE_INSTALL_PREFIX}\")")
