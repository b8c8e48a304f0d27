set(sources protbert.cpp)
