#include <algorithm>
#include <map>

#include "gpu/kmer/count/pass_counter.hpp"
#include "gpu/kmer/lookup/lookup_table.hpp"
#include "lib/kmer/key/key_order.hpp"
#include "lib/kmer/sequences/packed_text.hpp"
#include "lib/kmer/sequences/sequence_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

using SortKeyCounts = std::map<std::uint64_t, std::uint64_t>;

constexpr std::size_t kStageLetters = 4096;  // so that texts are cut

// False where the counter was full before the text's end.
bool add_text(gpu::kmer::PassCounter& counter, int k, const std::string& text) {
  bool fits = true;
  kmer::TextPacker(k, 0, kStageLetters)
      .pack([&](const kmer::AddSequence& add) { add(text, {}); },
            [&](const kmer::PackedText& some) {
              fits = fits && counter.add({some.bases(), some.invalid(), some.n_letters()});
            });
  return fits;
}

// What the device has to find, by the CPU's plain code.
SortKeyCounts expected_sort_keys(const std::string& text, const kmer::KeyOrder& order,
                                 bool canonical) {
  std::vector<std::uint64_t> keys;
  kmer::append_keys(text, order.k(), canonical, keys);
  SortKeyCounts sort_keys;
  for (const std::uint64_t key : keys) ++sort_keys[order.encode(kmer::Key<1>{{key}}).word[0]];
  return sort_keys;
}

gpu::kmer::CounterOptions options_for(const kmer::KeyOrder& order, bool canonical) {
  gpu::kmer::CounterOptions options;
  options.k = order.k();
  options.n_words = kmer::words_for(order.k());
  options.canonical = canonical;
  options.stage_letters = kStageLetters;
  if (order.keeps_keys() || options.n_words > 1) return options;
  options.size_bits = order.size_bits();
  for (const auto& table : order.position_tables())
    options.tables.insert(options.tables.end(), table.begin(), table.end());
  return options;
}

// All that is left in the counter; checks that sort keys ascend.
SortKeyCounts take_all(gpu::kmer::PassCounter& counter, std::size_t step) {
  SortKeyCounts all;
  std::vector<std::uint64_t> sort_keys;
  std::vector<std::uint64_t> counts;
  std::uint64_t last = 0;
  bool ascending = true;
  while (const std::size_t n = counter.next(step, sort_keys, counts)) {
    for (std::size_t i = 0; i < n; ++i) {
      ascending = ascending && (all.empty() || sort_keys[i] > last);
      last = sort_keys[i];
      all[sort_keys[i]] += counts[i];
    }
  }
  CHECK(ascending);
  return all;
}

std::string joined(const std::vector<std::string>& sequences) {
  std::string text;
  for (const std::string& sequence : sequences) text += sequence + "N";
  return text;
}

}  // namespace

TEST_CASE("kmer.counter gpu: equals plain counting", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(21, 1500));
  for (const int k : {1, 2, 4, 6, 9, 15, 16, 17, 21, 31, 32})
    for (const bool canonical : {false, true}) {
      CAPTURE(k, canonical);
      for (const int size_bits : {0, 5, 17, 34}) {
        if (size_bits > 2 * k) continue;
        const auto order = size_bits == 0 ? kmer::KeyOrder::lexicographic(k)
                                          : kmer::KeyOrder::jellyfish(k, size_bits, false);
        const auto counter = gpu::kmer::make_counter(options_for(order, canonical));
        REQUIRE(add_text(*counter, k, text));
        const SortKeyCounts expected = expected_sort_keys(text, order, canonical);
        CHECK(take_all(*counter, 1000) == expected);
        std::uint64_t n = 0;
        for (const auto& entry : expected) n += entry.second;
        CHECK(counter->n_windows() == n);
      }
    }
}

TEST_CASE("kmer.counter gpu: texts of every length around a word", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 rng(5);
  const auto order = kmer::KeyOrder::lexicographic(5);
  for (std::size_t n = 0; n < 70; ++n) {
    CAPTURE(n);
    const std::string text = test::random_letters(rng, n, "ACGTACGTACGTN");
    const auto counter = gpu::kmer::make_counter(options_for(order, false));
    REQUIRE(add_text(*counter, 5, text));
    CHECK(take_all(*counter, 7) == expected_sort_keys(text, order, false));
  }
}

TEST_CASE("kmer.counter gpu: how many bits are sorted first changes nothing",
          "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  // Two letters among few sort keys fill groups that are longer than one thread sorts.
  std::mt19937 rng(6);
  const std::string few = test::random_letters(rng, 6000, "AC");
  for (const std::string& text : {joined(test::tricky_sequences(26, 1500)), few})
    for (const int k : {12, 21, 32}) {
      const auto order = kmer::KeyOrder::jellyfish(k, 14, false);
      const SortKeyCounts expected = expected_sort_keys(text, order, true);
      for (const int sort_bits : {1, 4, 8, 16}) {
        CAPTURE(k, sort_bits);
        auto options = options_for(order, true);
        options.sort_bits = sort_bits;
        const auto counter = gpu::kmer::make_counter(options);
        REQUIRE(add_text(*counter, k, text));
        CHECK(take_all(*counter, 1000) == expected);
      }
    }
}

TEST_CASE("kmer.counter gpu: how bins are cut changes nothing", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  // The longest fills bins beyond any table, so that all sort keys are sorted; the one before needs
  // the larger table of small devices; the repeat is a bin of few sort keys that occur often.
  std::mt19937 rng(8);
  std::string often;
  for (int i = 0; i < 2000; ++i) often += "ACGTTGCAAC";
  for (const std::string& text :
       {joined(test::tricky_sequences(27, 1500)), often, test::random_letters(rng, 6000, "ACGT"),
        test::random_letters(rng, 40000, "ACGT")})
    for (const int k : {16, 21, 32}) {
      const auto order = kmer::KeyOrder::jellyfish(k, 20, false);
      const SortKeyCounts expected = expected_sort_keys(text, order, true);
      for (const int bin_bits : {0, 1, 5}) {
        CAPTURE(k, bin_bits);
        auto options = options_for(order, true);
        options.bin_bits = bin_bits;
        const auto counter = gpu::kmer::make_counter(options);
        REQUIRE(add_text(*counter, k, text));
        CHECK(take_all(*counter, 1000) == expected);
      }
    }
}

TEST_CASE("kmer.counter gpu: ranges, parts and refills change nothing", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(22, 3000));
  const auto order = kmer::KeyOrder::jellyfish(21, 20, false);
  const SortKeyCounts expected = expected_sort_keys(text, order, true);

  auto options = options_for(order, true);
  options.max_device_bytes = 200000;  // some thousand sort keys at a time
  const auto small = gpu::kmer::make_counter(options);
  REQUIRE(add_text(*small, 21, text));
  CHECK(take_all(*small, 500) == expected);
  small->clear();
  REQUIRE(add_text(*small, 21, text));
  CHECK(take_all(*small, 500) == expected);

  SortKeyCounts together;
  for (int part = 0; part < 3; ++part) {
    auto of_part = options_for(order, true);
    of_part.part = part;
    of_part.n_parts = 3;
    const auto counter = gpu::kmer::make_counter(of_part);
    REQUIRE(add_text(*counter, 21, text));
    const SortKeyCounts some = take_all(*counter, 500);
    CHECK((together.empty() || some.begin()->first > together.rbegin()->first));
    together.insert(some.begin(), some.end());
  }
  CHECK(together == expected);
}

TEST_CASE("kmer.counter gpu: how devices share the texts changes nothing", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  std::string why;
  const auto n_devices = gpu::list_devices(&why).size();
  const int home = gpu::current_device();
  const std::string poly_a(20000, 'A');  // more than one part has room for
  for (const std::string& text : {joined(test::tricky_sequences(23, 3000)),
                                  joined(test::tricky_sequences(24, 3000)) + poly_a})
    for (const bool has_order : {true, false})
      for (const std::size_t n_parts : {1, 2, 3, 8})
        for (const std::uint64_t max_bytes : {std::uint64_t{0}, std::uint64_t{200000}}) {
          if (max_bytes > 0 && text.ends_with(poly_a)) continue;  // a range that does not fit
          CAPTURE(text.size(), has_order, n_parts, max_bytes);
          const auto order = has_order ? kmer::KeyOrder::jellyfish(21, 20, false)
                                       : kmer::KeyOrder::lexicographic(21);
          std::vector<std::unique_ptr<gpu::kmer::PassCounter>> counters;
          std::vector<gpu::kmer::PassCounter*> all;
          for (std::size_t part = 0; part < n_parts; ++part) {
            auto options = options_for(order, true);
            options.part = static_cast<int>(part);
            options.n_parts = static_cast<int>(n_parts);
            options.max_device_bytes = max_bytes;
            gpu::set_device(static_cast<int>(part % n_devices));
            counters.push_back(gpu::kmer::make_counter(options));
            all.push_back(counters.back().get());
          }
          if (!all[0]->share_texts(all)) continue;  // devices that cannot reach each other
          for (int time = 0; time < 2; ++time) {
            for (std::size_t i = 0; i < n_parts; ++i) {  // the last has no text
              const std::size_t n = text.size() / n_parts + 1;
              const std::size_t begin = i * n;
              gpu::set_device(static_cast<int>(i % n_devices));
              if (i + 1 < n_parts || n_parts == 1)
                REQUIRE(add_text(*all[i], 21, text.substr(begin, n)));
            }
            all[0]->exchange();
            SortKeyCounts expected;
            for (std::size_t i = 0; i + 1 < n_parts || i == 0; ++i) {
              const std::size_t n = text.size() / n_parts + 1;
              for (const auto& [sort_key, count] :
                   expected_sort_keys(text.substr(i * n, n), order, true))
                expected[sort_key] += count;
            }
            SortKeyCounts together;
            for (std::size_t part = 0; part < n_parts; ++part) {
              gpu::set_device(static_cast<int>(part % n_devices));
              const SortKeyCounts some = take_all(*all[part], 500);
              CHECK((together.empty() || some.empty() ||
                     some.begin()->first > together.rbegin()->first));
              together.insert(some.begin(), some.end());
            }
            CHECK(together == expected);
            for (gpu::kmer::PassCounter* counter : all) counter->clear();
          }
        }
  gpu::set_device(home);
}

namespace {

using Keys = std::map<std::vector<std::uint64_t>, std::uint64_t>;

Keys expected_keys(const std::string& text, int k, bool canonical) {
  std::vector<std::uint64_t> words;
  kmer::append_keys(text, k, canonical, words);
  const auto n_words = static_cast<std::size_t>(kmer::words_for(k));
  Keys keys;
  for (std::size_t i = 0; i < words.size(); i += n_words)
    ++keys[{words.data() + i, words.data() + i + n_words}];
  return keys;
}

// All that is left in the counter; k-mers that come in parts are added up.
Keys take_keys(gpu::kmer::PassCounter& counter, int k, std::size_t step) {
  const auto n_words = static_cast<std::size_t>(kmer::words_for(k));
  Keys all;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> counts;
  while (const std::size_t n = counter.next(step, keys, counts))
    for (std::size_t i = 0; i < n; ++i)
      all[{keys.data() + i * n_words, keys.data() + (i + 1) * n_words}] += counts[i];
  return all;
}

}  // namespace

TEST_CASE("kmer.long_counter gpu: equals plain counting", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(23, 900));
  for (const int k : {33, 47, 55, 63, 64, 65, 96, 127, 128, 129, 255, 256})
    for (const bool canonical : {false, true}) {
      CAPTURE(k, canonical);
      const auto order = kmer::KeyOrder::lexicographic(k);
      const auto counter = gpu::kmer::make_counter(options_for(order, canonical));
      REQUIRE(add_text(*counter, k, text));
      CHECK(take_keys(*counter, k, 700) == expected_keys(text, k, canonical));
    }
}

TEST_CASE("kmer.long_counter gpu: ranges, parts and refills change nothing",
          "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(24, 900));
  const auto order = kmer::KeyOrder::lexicographic(55);
  const Keys expected = expected_keys(text, 55, true);
  auto options = options_for(order, true);
  options.max_device_bytes = 200000;
  const auto small = gpu::kmer::make_counter(options);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(add_text(*small, 55, text));
    CHECK(take_keys(*small, 55, 500) == expected);
    small->clear();
  }
  Keys together;
  for (int part = 0; part < 3; ++part) {
    auto of_part = options_for(order, true);
    of_part.part = part;
    of_part.n_parts = 3;
    const auto counter = gpu::kmer::make_counter(of_part);
    REQUIRE(add_text(*counter, 55, text));
    counter->prepare();
    for (const auto& [key, count] : take_keys(*counter, 55, 500)) together[key] += count;
  }
  CHECK(together == expected);
}

TEST_CASE("kmer.lookup_table gpu: finds what was put in and nothing else", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 rng(9);
  const std::string text = joined(test::tricky_sequences(25, 400));
  const std::string other = test::random_letters(rng, 900, "ACGT");
  for (const int k : {1, 3, 15, 21, 31, 32, 33, 55, 64, 65, 127, 256})
    for (const int size_bits : {0, 2, 9, 30}) {
      if (size_bits > 2 * k) continue;
      CAPTURE(k, size_bits);
      const auto order = size_bits == 0 ? kmer::KeyOrder::lexicographic(k)
                                        : kmer::KeyOrder::jellyfish(k, size_bits, false);
      kmer::with_words(k, [&]<int kWords>() {
        const Keys counted = expected_keys(text, k, false);
        std::vector<std::pair<kmer::Key<kWords>, std::uint64_t>> entries;
        for (const auto& [words, count] : counted) {
          kmer::Key<kWords> key;
          std::copy_n(words.begin(), kWords, key.word.begin());
          entries.emplace_back(key, count);
        }
        std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
          return order.encode(a.first) < order.encode(b.first);
        });
        gpu::kmer::LookupTableOptions options;
        options.k = k;
        options.n_words = kWords;
        options.n_keys = entries.size();
        if (!order.keeps_keys()) {
          options.size_bits = order.size_bits();
          for (const auto& table : order.position_tables())
            options.tables.insert(options.tables.end(), table.begin(), table.end());
        }
        gpu::kmer::LookupTable table(options);
        std::vector<std::uint64_t> words;
        std::vector<std::uint64_t> counts;
        for (const auto& [key, count] : entries) {
          words.insert(words.end(), key.word.begin(), key.word.end());
          counts.push_back(count);
          if (counts.size() < 300 && counts.size() + table.n_keys() < entries.size()) continue;
          table.append(words, counts);
          words.clear();
          counts.clear();
        }
        table.finish();
        std::vector<std::uint64_t> keys;
        kmer::append_keys(text + other, k, false, keys);
        std::vector<std::uint64_t> found(keys.size() / kWords);
        table.find(keys.data(), found);
        std::vector<std::uint64_t> expected;
        for (std::size_t i = 0; i < keys.size(); i += kWords) {
          const auto at = counted.find({keys.data() + i, keys.data() + i + kWords});
          expected.push_back(at == counted.end() ? 0 : at->second);
        }
        CHECK(found == expected);
      });
    }
}
