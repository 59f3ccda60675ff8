// The specification documents keep their format, and a rule number that is cited anywhere exists.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { allRules } from '../../clients/conformance/index.js';
import { citationsIn, parseSpecification, SPECIFICATIONS } from '../../protocols/specification/index.js';
import { citingFiles, coverageOf, isChecked } from '../rules/rule-coverage.js';
import { UNCHECKED } from '../rules/unchecked-rules.js';
import { ROOT, textOf } from './sources.js';

const documents = SPECIFICATIONS.map(({ folder, prefixes }) => {
  const file = `${folder}/specification.md`;
  return { file, prefixes, ...parseSpecification(textOf(file)) };
});

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

/** The sections that contain a rule: SOIF-4 of SOIF-4.1. */
function sectionsOf(id: string): string[] {
  const parts = id.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}

/** Pages that may cite rules, beside the sources. */
function pages(): string[] {
  const inDocs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...inDocs.map((name) => `docs/${name}`)];
}

t.test('every cited rule or section exists', async (t) => {
  const ids = documents.flatMap(({ rules }) => rules.map(({ id }) => id));
  const known = new Set(ids);
  for (const id of ids) for (const section of sectionsOf(id)) known.add(section);
  const missing = [...citingFiles(), ...pages()].flatMap((file) =>
    citationsIn(textOf(file))
      .filter((id) => !known.has(id))
      .map((id) => `${file}: ${id}`),
  );
  t.same([...new Set(missing)], []);
});

t.test('every MUST has a test, a case or a vector, or a written reason', async (t) => {
  const rules = await allRules();
  const coverages = await coverageOf(rules);
  // A rule that introduces a section is checked with the rules of the section.
  const sections = new Set(rules.flatMap(({ id }) => sectionsOf(id)));
  const unchecked = rules
    .filter(({ id }) => !sections.has(id))
    .filter(({ id, level }) => {
      const coverage = coverages.get(id);
      return level === 'MUST' && coverage !== undefined && !isChecked(coverage);
    })
    .map(({ id }) => id);
  t.same(
    unchecked.filter((id) => UNCHECKED[id] === undefined),
    [],
  );
  t.same(
    Object.keys(UNCHECKED).filter((id) => !unchecked.includes(id)),
    [],
    'every reason is needed',
  );
});
