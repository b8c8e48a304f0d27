set(sources pairformer.cpp)
