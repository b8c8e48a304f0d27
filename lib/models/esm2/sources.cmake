set(sources esm2.cpp)
