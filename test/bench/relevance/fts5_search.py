"""Searches documents with SQLite FTS5: porter stems, bm25 with weights for title, headings and description, any of the words.

With the argument `shipped` all weights are 1, as FTS5 has them.
"""

import json
import re
import sqlite3
import sys

documents, limit = sys.argv[1], int(sys.argv[2])
RANK = "bm25(pages)" if sys.argv[3:] == ["shipped"] else "bm25(pages, 0, 10, 3, 3, 1)"
database = sqlite3.connect(":memory:")
try:
    database.execute(
        "CREATE VIRTUAL TABLE pages USING fts5(page UNINDEXED, title, headings, description, body, tokenize='porter unicode61')"
    )
except sqlite3.OperationalError:
    sys.exit(3)
for line in open(documents, encoding="utf-8"):
    fields = json.loads(line)
    row = [fields[name] for name in ("page", "title", "headings", "description", "body")]
    database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", row)
for line in sys.stdin:
    words = re.findall(r"\w+", line)
    match = " OR ".join(f'"{word}"' for word in words)
    rows = database.execute(
        f"SELECT page FROM pages WHERE pages MATCH ? ORDER BY {RANK} LIMIT ?", (match, limit)
    )
    print(json.dumps([page for (page,) in rows]))
