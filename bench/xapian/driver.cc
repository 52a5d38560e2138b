// Builds and searches a Xapian index for the bench. Terms come with their positions
// from the bench, so that all engines index the same ones.
//
//   driver build DB < documents     u32 tokens, then each as u8 length and bytes;
//                                   before them i64 time and u8 length, bytes of the filter term
//   driver search DB < questions    a line each: MODE TIMES OP FILTER SINCE UNTIL TERM ...
//                                   answered by a line: NANOSECONDS COUNT ID:SCORE ...
#include <sys/resource.h>
#include <time.h>
#include <xapian.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static double seconds(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static bool get(void* p, size_t n) { return fread(p, 1, n, stdin) == n; }

static std::string shortString() {
  unsigned char n;
  char buf[256];
  if (!get(&n, 1) || !get(buf, n)) throw std::runtime_error("input ends early");
  return std::string(buf, n);
}

static int build(const std::string& path) {
  Xapian::WritableDatabase db(path + ".raw", Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
  int64_t time;
  size_t pending = 0;
  while (get(&time, 8)) {
    Xapian::Document doc;
    doc.add_boolean_term(shortString());
    doc.add_value(0, Xapian::sortable_serialise((double)time));
    uint32_t n;
    if (!get(&n, 4)) throw std::runtime_error("input ends early");
    for (uint32_t i = 0; i < n; i++) {
      std::string term = shortString();
      if (!term.empty()) doc.add_posting(term, i + 1);
    }
    db.add_document(doc);
    if (++pending % 50000 == 0) db.commit();
  }
  db.commit();
  db.close();
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  int64_t written = -1;
  if (FILE* f = fopen("/proc/self/io", "r")) {
    char line[128];
    long long v, sent = 0, cancelled = 0;
    while (fgets(line, sizeof line, f)) {
      if (sscanf(line, "write_bytes: %lld", &v) == 1) sent = v;
      if (sscanf(line, "cancelled_write_bytes: %lld", &v) == 1) cancelled = v;
    }
    written = sent - cancelled;
    fclose(f);
  }
  Xapian::Database(path + ".raw").compact(path, Xapian::Compactor::FULL);
  printf("%f %f %ld %lld %s\n", cpu, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, u.ru_maxrss, (long long)written, Xapian::version_string());
  return 0;
}

static Xapian::Query query(const std::string& op, const std::vector<std::string>& terms) {
  if (op == "prefix") return Xapian::Query(Xapian::Query::OP_WILDCARD, terms[0], 0, 0, Xapian::Query::OP_SYNONYM);
  if (op == "phrase") return Xapian::Query(Xapian::Query::OP_PHRASE, terms.begin(), terms.end(), terms.size());
  return Xapian::Query(op == "or" ? Xapian::Query::OP_OR : Xapian::Query::OP_AND, terms.begin(), terms.end());
}

static int search(const std::string& path) {
  Xapian::Database db(path);
  std::cout << Xapian::version_string() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::string mode, op, filter, term;
    double since, until;
    int times;
    in >> mode >> times >> op >> filter >> since >> until;
    std::vector<std::string> terms;
    while (in >> term) terms.push_back(term);
    Xapian::Query q = query(op, terms);
    if (filter != "-") {
      Xapian::Query range(Xapian::Query::OP_VALUE_RANGE, 0, Xapian::sortable_serialise(since), Xapian::sortable_serialise(until));
      q = Xapian::Query(Xapian::Query::OP_FILTER, q, Xapian::Query(Xapian::Query::OP_AND, Xapian::Query(filter), range));
    }
    Xapian::Enquire enquire(db);
    bool counting = mode == "count";
    if (counting)
      enquire.set_weighting_scheme(Xapian::BoolWeight());
    else
      enquire.set_weighting_scheme(Xapian::BM25Weight(1.2, 0, 1, 0.75, 0));
    enquire.set_query(q);
    Xapian::MSet found;
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < times; i++) {
      found = counting ? enquire.get_mset(0, 0, db.get_doccount()) : enquire.get_mset(0, 10);
      Xapian::docid sum = 0;
      for (Xapian::MSetIterator d = found.begin(); d != found.end(); ++d) sum += *d;
      if (sum == 1u << 31) std::cerr << "";
    }
    double spent = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    std::cout << (long long)(spent / times * 1e9) << ' ' << (counting ? found.get_matches_lower_bound() : 0);
    for (Xapian::MSetIterator d = found.begin(); d != found.end(); ++d) std::cout << ' ' << *d << ':' << d.get_weight();
    std::cout << std::endl;
  }
  return 0;
}

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string(argv[1]) == "build") return build(argv[2]);
    if (argc == 3 && std::string(argv[1]) == "search") return search(argv[2]);
    std::cerr << "usage: driver build|search DB" << std::endl;
  } catch (const Xapian::Error& e) {
    std::cerr << e.get_description() << std::endl;
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
  }
  return 1;
}
