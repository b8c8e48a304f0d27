#include "lib/core/object_pool.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using biogpu::ObjectPool;

TEST_CASE("core.object_pool: what is released is given out again, at the same address", "[core]") {
  ObjectPool<std::vector<int>> pool;
  std::vector<int>& first = pool.acquire(3, 7);
  CHECK(first == std::vector{7, 7, 7});
  std::vector<int>& second = pool.acquire();
  CHECK(&first != &second);
  pool.release(first);
  CHECK(&pool.acquire(5, 1) == &first);
  CHECK(first.size() == 3);
  CHECK(pool.all().size() == 2);
}

TEST_CASE("core.object_pool: objects put in are used before new ones are made", "[core]") {
  ObjectPool<int> pool;
  pool.add(4);
  pool.add(5);
  CHECK(pool.acquire() + pool.acquire() == 9);
  CHECK(pool.acquire(6) == 6);
}

TEST_CASE("core.object_pool: no two threads have one object", "[core]") {
  ObjectPool<std::atomic<int>> pool;
  std::atomic<bool> shared{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          std::atomic<int>& users = pool.acquire(0);
          if (++users != 1) shared = true;
          --users;
          pool.release(users);
        }
      });
  }
  CHECK_FALSE(shared);
  CHECK(pool.all().size() <= 4);
}
