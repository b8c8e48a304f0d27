# cmake -DSOURCE=... -DOUT=... -P WriteInterfaceDigest.cmake: a header with a digest of all headers and lists of operations
# of lib/, from which a program and a GPU module of another build know that they differ. Written only where it changes.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/lib/*.hpp" "${SOURCE}/lib/*.def")
list(SORT files)
set(all "")
foreach(file ${files})
  file(SHA256 "${SOURCE}/${file}" digest)
  string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT "${OUT}" CONTENT
     "#pragma once\n\nnamespace biogpu {\ninline constexpr char kInterfaceDigest[] = \"${digest}\";\n}  // namespace biogpu\n")
