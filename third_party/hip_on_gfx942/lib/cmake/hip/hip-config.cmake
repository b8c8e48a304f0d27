# The runtime that executes gfx942's code on the CPU, under the name of AMD's library.
add_library(hip_on_gfx942 SHARED "${HIP_ON_GFX942}/code_object.cpp" "${HIP_ON_GFX942}/graphs.cpp" "${HIP_ON_GFX942}/instructions.cpp"
                                 "${HIP_ON_GFX942}/machine.cpp" "${HIP_ON_GFX942}/message_pack.cpp"
                                 "${HIP_ON_GFX942}/runtime.cpp")
set_target_properties(hip_on_gfx942 PROPERTIES OUTPUT_NAME amdhip64 SOVERSION 6)
target_compile_definitions(hip_on_gfx942 PUBLIC __HIP_PLATFORM_AMD__=1)
target_include_directories(hip_on_gfx942 SYSTEM PUBLIC "${HIP_ON_GFX942_PREFIX}/include")
add_library(hip::host ALIAS hip_on_gfx942)
