# cmake -DOUTPUT=FILE.cpp "-DNAMES=f g" "-DFILES=a;b" -P embed.cmake
# Writes functions f, g of html_assets.hpp that return the files' text.
separate_arguments(NAMES)
set(code "#include \"lib/qc/report/html_assets.hpp\"\n\nnamespace biogpu::qc {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND code "namespace {\nconstexpr unsigned char ${name}_bytes[] = {${bytes}0};\n}\n"
                     "std::string_view ${name}() {\n"
                     "  return {reinterpret_cast<const char*>(${name}_bytes),"
                     " sizeof ${name}_bytes - 1};\n}\n")
endforeach()
string(APPEND code "}  // namespace biogpu::qc\n")
file(WRITE "${OUTPUT}" "${code}")
