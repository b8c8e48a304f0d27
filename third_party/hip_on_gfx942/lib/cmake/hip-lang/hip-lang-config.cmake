# CMake links what holds kernels with this; our runtime wants nothing there.
add_library(hip-lang::device INTERFACE IMPORTED)
