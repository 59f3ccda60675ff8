// The specification documents keep their format, and a rule number that is cited anywhere exists.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import t from 'tap';
import { parseSpecification, SPECIFICATIONS } from '../../protocols/specification/index.js';
import { ROOT, textOf } from './sources.js';

const documents = SPECIFICATIONS.filter(({ folder }) =>
  existsSync(join(ROOT, folder, 'specification.md')),
).map(({ folder, prefixes }) => {
  const file = `${folder}/specification.md`;
  return { file, prefixes, ...parseSpecification(textOf(file)) };
});

/** Sources and pages that may cite rules. */
function citingFiles(): string[] {
  const found: string[] = ['README.md'];
  for (const folder of ['protocols', 'storage', 'clients', 'servers', 'test', 'docs', 'examples'])
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && /\.(?:ts|md|json|py|go)$/.test(entry.name))
        found.push(relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return found;
}

for (const { file, prefixes, problems, rules, sources } of documents) {
  t.test(file, async (t) => {
    t.same(
      problems.map(({ line, message }) => `${file}:${line} ${message}`),
      [],
      'keeps the format',
    );
    t.ok(rules.length > 0, 'has rules');
    const foreign = rules.filter(({ id }) => !prefixes.includes(id.slice(0, id.indexOf('-'))));
    t.same(
      foreign.map(({ id }) => id),
      [],
      `has rules of ${prefixes.join(', ')} only`,
    );
    const names = sources.map(({ name }) => name);
    const unknown = rules.flatMap(({ id, evidence }) =>
      evidence
        .filter(({ basis }) => basis === 'seed' || basis === 'manual' || basis === 'client')
        .filter(({ source }) => !names.some((name) => source.startsWith(name)))
        .map(({ source }) => `${id}: ${source}`),
    );
    t.same(unknown, [], 'names sources of its table');
  });
}

t.test('every cited rule exists', async (t) => {
  const prefixes = documents.flatMap((document) => document.prefixes);
  if (prefixes.length === 0) return;
  const ids = new Set(documents.flatMap(({ rules }) => rules.map(({ id }) => id)));
  // Not the beginning of a pattern such as /SOIF-4\.4/.
  const citation = new RegExp(
    `(?<![\\w-])(?:${prefixes.join('|')})-\\d+(?:\\.\\d+)*[a-z]?(?![\\w\\\\-])`,
    'g',
  );
  const missing: string[] = [];
  for (const file of citingFiles())
    for (const [id] of textOf(file).matchAll(citation)) if (!ids.has(id)) missing.push(`${file}: ${id}`);
  t.same([...new Set(missing)], []);
});
