# biogpu_list_ops(FILE RESULT): the names of the operations that FILE, a list such as
# lib/ops/ops.def, has one line each for: BIOGPU_OP(name, arguments).
function(biogpu_list_ops file result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" lines REGEX "^BIOGPU_OP\\(")
  set(names "")
  foreach(line ${lines})
    string(REGEX REPLACE "^BIOGPU_OP\\(([a-z0-9_]+),.*" "\\1" name "${line}")
    list(APPEND names ${name})
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()
