# A relocatable folder: the programs, and beside them every shared library except the C library's
# own, so that a build made here runs on any x86-64 machine with the same or a newer glibc.
#
#   bin/          biogpu, and in developer mode biogpu-bench
#   lib/          libbiogpu_potential.so (for distributions where they have libraries); in biogpu/ the shared libraries
#   libexec/      in developer mode biogpu/tests/
#   include/      biogpu/
#   share/        biogpu/data/, doc/biogpu/
#
# Distributions, which have the libraries as packages, set BIOGPU_SYSTEM_LIBRARIES: the folder then
# carries none, and programs find them where the system's loader looks.

option(BIOGPU_SYSTEM_LIBRARIES "Install no shared libraries of others" OFF)
set(BIOGPU_PRIVATE_LIBDIR lib/biogpu)
# Programs in the folder have no symbol tables, to be small to carry. A distribution's tools strip by themselves.
if(NOT BIOGPU_SYSTEM_LIBRARIES)
  install(CODE "set(CMAKE_INSTALL_DO_STRIP ON)")
endif()

# biogpu_install(TARGET DESTINATION): installs a program or module that finds the private libraries.
function(biogpu_install target destination)
  if(BIOGPU_SYSTEM_LIBRARIES)
    install(TARGETS ${target} RUNTIME DESTINATION ${destination} LIBRARY DESTINATION ${destination})
    return()
  endif()
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
# Potentials and blocks for other programs: the library, its headers, and what is built on it.
if(BIOGPU_SYSTEM_LIBRARIES)
  biogpu_install(biogpu_potential "${CMAKE_INSTALL_LIBDIR}")
else()
  biogpu_install(biogpu_potential lib)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/lib/c_api/potential.h" "${PROJECT_SOURCE_DIR}/lib/c_api/block.h"
        DESTINATION include/biogpu)
install(FILES "${PROJECT_SOURCE_DIR}/lib/c_api/example/energy.c" "${PROJECT_SOURCE_DIR}/lib/c_api/example/attention.c"
              "${PROJECT_SOURCE_DIR}/lib/c_api/example/pair_bias_block.c"
        DESTINATION share/doc/biogpu/examples)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/scripts/python/biogpu" "${PROJECT_SOURCE_DIR}/scripts/python/biogpu_blocks"
        DESTINATION share/biogpu/python FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/scripts/ase/biogpu_calculator.py" DESTINATION share/biogpu/python)
install(FILES "${PROJECT_SOURCE_DIR}/scripts/lammps/pair_biogpu.cpp"
              "${PROJECT_SOURCE_DIR}/scripts/lammps/pair_biogpu.h" DESTINATION share/biogpu/lammps)
# Modules that the program opens when it needs them.
if(TARGET biogpu_rocm)
  biogpu_install(biogpu_rocm ${BIOGPU_PRIVATE_LIBDIR})
endif()
if(TARGET biogpu_bigwig)
  biogpu_install(biogpu_bigwig ${BIOGPU_PRIVATE_LIBDIR})
endif()
if(TARGET biogpu_image_decoders)
  biogpu_install(biogpu_image_decoders ${BIOGPU_PRIVATE_LIBDIR})
endif()
if(TARGET biogpu_rdkit)
  biogpu_install(biogpu_rdkit ${BIOGPU_PRIVATE_LIBDIR})
  biogpu_install(biogpu_chemistry ${BIOGPU_PRIVATE_LIBDIR})
endif()
# On a machine with a GPU the tests run from the installed folder; scripts/gpu_test.sh does it.
if(BIOGPU_DEVELOPER_MODE AND BIOGPU_GPU MATCHES "^(cuda|rocm)$")
  get_property(gpu_tests GLOBAL PROPERTY BIOGPU_GPU_TESTS)
  foreach(test IN LISTS gpu_tests)
    biogpu_install(${test} libexec/biogpu/tests)
  endforeach()
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/gpu_test.sh" DESTINATION libexec/biogpu)
  # Small models with random weights, which it computes on the CPU and on the GPU.
  set(models "${PROJECT_SOURCE_DIR}/tests/data/models")
  install(DIRECTORY "${models}/enformer_tiny" DESTINATION libexec/biogpu/tests/models)
  install(DIRECTORY "${models}/tensornet/o3" DESTINATION libexec/biogpu/tests/models/tensornet)
endif()

# glibc and the drivers are the machine's own. AMD's runtime brings C++ code that wants the machine's
# libstdc++, so a ROCm build must not put an older one before it.
set(not_ours
    "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec|nss_.*|thread_db)\\.so"
    "^libcuda\\.so" "^libnvidia" "^libamdhip64" "^libhsa-runtime" "^linux-vdso")
if(BIOGPU_GPU STREQUAL "rocm")
  list(APPEND not_ours "^libstdc\\+\\+\\.so" "^libgcc_s\\.so")
endif()
if(NOT BIOGPU_SYSTEM_LIBRARIES)
  install(RUNTIME_DEPENDENCY_SET biogpu_libraries PRE_EXCLUDE_REGEXES ${not_ours}
          LIBRARY DESTINATION ${BIOGPU_PRIVATE_LIBDIR})
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/" DESTINATION share/biogpu/data)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/LICENSE"
              "${PROJECT_SOURCE_DIR}/NEWS.md" "${PROJECT_SOURCE_DIR}/CITATION.cff"
              "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" DESTINATION share/doc/biogpu)
# The pages, below the README that links them, and the converters of weights that they name.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION share/doc/biogpu)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/scripts/convert" DESTINATION share/biogpu USE_SOURCE_PERMISSIONS
        FILES_MATCHING PATTERN "*.py" PATTERN requirements.txt)
# The terms of carried libraries and of what is compiled in travel with them.
set(which_terms "")
if(BIOGPU_SYSTEM_LIBRARIES)
  set(which_terms "compiled-in")
endif()
install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/dev/collect_licences.sh\"
                              \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" ${which_terms} COMMAND_ERROR_IS_FATAL ANY)")

# Workflows, and the names under which other programs' users know these commands.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/scripts/pipelines/" DESTINATION share/biogpu/pipelines USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/packaging/compat/bwa"
                 "${PROJECT_SOURCE_DIR}/scripts/packaging/compat/fastp"
                 "${PROJECT_SOURCE_DIR}/scripts/packaging/compat/jellyfish"
                 "${PROJECT_SOURCE_DIR}/scripts/packaging/compat/parasail_aligner"
        DESTINATION libexec/biogpu/compat)
install(FILES "${PROJECT_SOURCE_DIR}/scripts/packaging/compat/pass_on.sh" DESTINATION libexec/biogpu/compat)

# Manual pages and completions, printed by the program itself. A sanitizer's program is not for users.
if(NOT CMAKE_CROSSCOMPILING AND NOT BIOGPU_SANITIZE)
  set(pages "${PROJECT_BINARY_DIR}/pages")
  add_custom_command(
    OUTPUT "${pages}/made"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${pages}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${pages}/bash" "${pages}/zsh" "${pages}/fish"
    COMMAND biogpu man --all "${pages}/man1"
    COMMAND biogpu completion bash > "${pages}/bash/biogpu"
    COMMAND biogpu completion zsh > "${pages}/zsh/_biogpu"
    COMMAND biogpu completion fish > "${pages}/fish/biogpu.fish"
    COMMAND "${CMAKE_COMMAND}" -E touch "${pages}/made"
    DEPENDS biogpu
    VERBATIM)
  add_custom_target(biogpu_pages ALL DEPENDS "${pages}/made")

  # Nextflow modules, from the program's own description of its commands.
  find_package(Python3 3.11 COMPONENTS Interpreter)
  if(Python3_Interpreter_FOUND)
    set(nextflow "${PROJECT_SOURCE_DIR}/scripts/pipelines/nextflow")
    set(modules "${PROJECT_BINARY_DIR}/nextflow")
    add_custom_command(
      OUTPUT "${modules}/made"
      COMMAND "${CMAKE_COMMAND}" -E rm -rf "${modules}"
      COMMAND "${Python3_EXECUTABLE}" "${nextflow}/make_modules.py" "$<TARGET_FILE:biogpu>" "${modules}/modules/biogpu"
      COMMAND "${CMAKE_COMMAND}" -E touch "${modules}/made"
      DEPENDS biogpu "${nextflow}/make_modules.py" "${nextflow}/process.py" "${nextflow}/modules.toml"
      VERBATIM)
    add_custom_target(biogpu_nextflow_modules ALL DEPENDS "${modules}/made")
    install(DIRECTORY "${modules}/modules" DESTINATION share/biogpu/pipelines/nextflow OPTIONAL)
  else()
    message(STATUS "No Python 3.11: Nextflow modules are not installed")
  endif()
  install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" OPTIONAL)
  install(DIRECTORY "${pages}/bash/" DESTINATION share/bash-completion/completions OPTIONAL)
  install(DIRECTORY "${pages}/zsh/" DESTINATION share/zsh/vendor-completions OPTIONAL)
  install(DIRECTORY "${pages}/fish/" DESTINATION share/fish/vendor_completions.d OPTIONAL)
endif()
