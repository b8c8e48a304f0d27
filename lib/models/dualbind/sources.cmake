set(sources batch.cpp complex.cpp config.cpp dualbind.cpp network.cpp pocket.cpp weights.cpp)
