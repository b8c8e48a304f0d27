# biogpu_list_ops(LIST FOLDER...): reads LIST, a file such as lib/ops/ops.def with a line BIOGPU_OP(name, arguments) for
# each operation of a family, and finds the file set of each operation. The header that declares an operation
# (BIOGPU_DECLARE_OP), anywhere below the list's folder, gives its stem; a header may declare an operation and its gradient.
# A stem has these files, and CMake stops where one is missing:
#   lib/ops/FOLDER/STEM.hpp, STEM_ref.cpp, STEM_cpu.cpp, gpu/ops/FOLDER/STEM.hip, tests/ops/FOLDER/STEM_test.cpp
#   lib/models/MODEL/ops/STEM.hpp, STEM_ref.cpp, STEM_cpu.cpp, gpu/models/MODEL/STEM.hip, tests/models/MODEL/STEM_test.cpp
# A function NAME_bench() of each shared operation is in lib/ops/FOLDER/FOLDER_bench.cpp, or in STEM_bench.cpp.
#
# Appends to global properties: BIOGPU_OP_FAMILIES, BIOGPU_OP_LIB_SOURCES_<family>, BIOGPU_OP_BENCHES (relative to
# lib/ops), BIOGPU_OP_KERNELS (relative to gpu/), BIOGPU_OP_TESTS, BIOGPU_OP_HEADERS, BIOGPU_OP_LINES. family: ops, or the
# model's folder.
function(biogpu_list_ops list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  cmake_path(GET list PARENT_PATH root)
  cmake_path(RELATIVE_PATH root BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/lib" OUTPUT_VARIABLE lib_folder)
  if(lib_folder STREQUAL "ops")
    set(family ops)
    set(space biogpu::ops)
    set(base ops)
  elseif(lib_folder MATCHES "^models/([a-z0-9_]+)/ops$")
    set(family ${CMAKE_MATCH_1})
    set(space biogpu::models::${family})
    set(base models/${family})
  else()
    message(FATAL_ERROR "${list}: a list of operations is lib/ops/ops.def or lib/models/MODEL/ops/ops.def")
  endif()

  # name -> stem, from the headers.
  file(GLOB_RECURSE headers RELATIVE "${root}" "${root}/*.hpp")
  set(declared "")
  foreach(header ${headers})
    file(STRINGS "${root}/${header}" lines REGEX "^BIOGPU_DECLARE_OP\\(")
    string(REPLACE ".hpp" "" stem "${header}")
    foreach(line ${lines})
      string(REGEX REPLACE "^BIOGPU_DECLARE_OP\\(([a-z0-9_]+),.*" "\\1" name "${line}")
      if(DEFINED stem_${name})
        message(FATAL_ERROR "operation ${name} is declared by ${root}/${stem_${name}}.hpp and ${header}")
      endif()
      set(stem_${name} "${stem}")
      list(APPEND declared ${name})
    endforeach()
  endforeach()

  file(STRINGS "${list}" lines REGEX "^BIOGPU_OP\\(")
  set(stems "")
  set(listed "")
  foreach(line ${lines})
    if(NOT line MATCHES "^BIOGPU_OP\\(([a-z0-9_]+), ([A-Za-z0-9]+)\\)")
      message(FATAL_ERROR "${list}: expected BIOGPU_OP(name, Arguments), found ${line}")
    endif()
    set(name ${CMAKE_MATCH_1})
    if(NOT DEFINED stem_${name})
      message(FATAL_ERROR "operation ${name}: no header below ${root} has BIOGPU_DECLARE_OP(${name}, ...)")
    endif()
    list(APPEND stems ${stem_${name}})
    list(APPEND listed ${name})
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_LINES "BIOGPU_FAMILY_OP(${family}, ${space}, ${name}, ${CMAKE_MATCH_2})")
  endforeach()
  foreach(name ${declared})
    if(NOT name IN_LIST listed)
      message(FATAL_ERROR "operation ${name} of ${root}/${stem_${name}}.hpp has no line in ${list}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES stems)
  set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_FAMILIES ${family})

  foreach(stem ${stems})
    foreach(file lib/${lib_folder}/${stem}.hpp lib/${lib_folder}/${stem}_ref.cpp lib/${lib_folder}/${stem}_cpu.cpp
                 gpu/${base}/${stem}.hip tests/${base}/${stem}_test.cpp)
      if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${file}")
        message(FATAL_ERROR "operation ${stem} of ${list} has no ${file}")
      endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_LIB_SOURCES_${family}
                                        "${PROJECT_SOURCE_DIR}/lib/${lib_folder}/${stem}_ref.cpp"
                                        "${PROJECT_SOURCE_DIR}/lib/${lib_folder}/${stem}_cpu.cpp")
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_KERNELS ${base}/${stem}.hip)
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_TESTS "${PROJECT_SOURCE_DIR}/tests/${base}/${stem}_test.cpp")
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_HEADERS lib/${lib_folder}/${stem}.hpp)
  endforeach()

  if(family STREQUAL "ops")
    set(benches "")
    foreach(name ${listed})
      cmake_path(GET stem_${name} PARENT_PATH folder)
      set(bench ${folder}/${folder}_bench.cpp)
      if(EXISTS "${root}/${stem_${name}}_bench.cpp")
        set(bench ${stem_${name}}_bench.cpp)
      endif()
      set(functions "")
      if(EXISTS "${root}/${bench}")
        file(STRINGS "${root}/${bench}" functions REGEX "^void ${name}_bench\\(")
      endif()
      if(NOT functions)
        message(FATAL_ERROR "operation ${name} of ${list}: no void ${name}_bench(OpBench&) in lib/ops/${bench}")
      endif()
      list(APPEND benches ${bench})
    endforeach()
    list(REMOVE_DUPLICATES benches)
    set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_BENCHES ${benches})
  endif()

  # What runs an operation by the context's kind, for all operations of the family.
  set(text "// Written by CMake from lib/${lib_folder}/ops.def.\n")
  foreach(stem ${stems})
    string(APPEND text "#include \"lib/${lib_folder}/${stem}.hpp\"\n")
  endforeach()
  string(APPEND text "#include \"lib/ops/dispatch.hpp\"\n\nnamespace ${space} {\n\n"
         "#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(${family}, name, Args)\n"
         "#include \"lib/${lib_folder}/ops.def\"\n#undef BIOGPU_OP\n\n}  // namespace ${space}\n")
  set(dispatch "${PROJECT_BINARY_DIR}/generated/lib/${lib_folder}/dispatch.cpp")
  file(CONFIGURE OUTPUT "${dispatch}" CONTENT "${text}" @ONLY)
  set_property(GLOBAL APPEND PROPERTY BIOGPU_OP_LIB_SOURCES_${family} "${dispatch}")
endfunction()

# Every list of operations, and what is made of them: generated/lib/ops/all_ops.hpp includes the headers of the shared
# operations, generated/lib/gpu_backend/all_ops.hpp and all_ops.def those of all families.
file(GLOB model_lists CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/models/*/ops/ops.def")
foreach(list "${PROJECT_SOURCE_DIR}/lib/ops/ops.def" ${model_lists})
  biogpu_list_ops("${list}")
endforeach()

function(biogpu_write_op_headers file title pattern)
  get_property(headers GLOBAL PROPERTY BIOGPU_OP_HEADERS)
  set(text "#pragma once\n\n// ${title}; written by CMake from the lists of operations.\n")
  foreach(header ${headers})
    if(header MATCHES "${pattern}")
      string(APPEND text "#include \"${header}\"\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${file}" CONTENT "${text}" @ONLY)
endfunction()
biogpu_write_op_headers(lib/ops/all_ops.hpp "Every shared operation" "^lib/ops/")
biogpu_write_op_headers(lib/gpu_backend/all_ops.hpp "Every operation" "^lib/")

get_property(lines GLOBAL PROPERTY BIOGPU_OP_LINES)
list(JOIN lines "\n" text)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/lib/gpu_backend/all_ops.def"
     CONTENT "// Every operation; written by CMake from the lists of operations.\n${text}\n" @ONLY)
