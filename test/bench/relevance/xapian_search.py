"""Searches documents with Xapian: fields as omindex has them, stemmed, any of the words (its default).

The weights and the constants of BM25 are the best of those tried on the three corpora that are not held out; with the
argument `shipped` they are Xapian's own, with the weights of omindex.
"""

import json
import sys

try:
    import xapian
except ImportError:
    sys.exit(3)

documents, limit = sys.argv[1], int(sys.argv[2])
SHIPPED = sys.argv[3:] == ["shipped"]
TITLE_WEIGHT = 5 if SHIPPED else 40
WEIGHTS = {"headings": 1, "description": 1, "body": 1} if SHIPPED else {"headings": 5, "description": 5, "body": 1}
BM25 = {"k1": 3, "k2": 0, "k3": 1, "b": 0.4, "min_normlen": 0.5}

database = xapian.inmemory_open() if hasattr(xapian, "inmemory_open") else xapian.WritableDatabase("", xapian.DB_BACKEND_INMEMORY)
generator = xapian.TermGenerator()
generator.set_stemmer(xapian.Stem("en"))
for line in open(documents, encoding="utf-8"):
    fields = json.loads(line)
    document = xapian.Document()
    document.set_data(fields["page"])
    generator.set_document(document)
    generator.index_text(fields["title"], TITLE_WEIGHT, "S")
    generator.increase_termpos()
    generator.index_text(fields["title"], TITLE_WEIGHT)
    for name, weight in WEIGHTS.items():
        generator.increase_termpos()
        generator.index_text(fields[name], weight)
    database.add_document(document)

parser = xapian.QueryParser()
parser.set_stemmer(xapian.Stem("en"))
parser.set_stemming_strategy(xapian.QueryParser.STEM_SOME)
parser.set_database(database)
enquire = xapian.Enquire(database)
enquire.set_weighting_scheme(xapian.BM25Weight() if SHIPPED else xapian.BM25Weight(*BM25.values()))
for line in sys.stdin:
    flags = xapian.QueryParser.FLAG_DEFAULT
    enquire.set_query(parser.parse_query(line.strip(), flags))
    pages = [match.document.get_data().decode() for match in enquire.get_mset(0, limit)]
    print(json.dumps(pages))
