// The vectors keep their form, and the kit answers them as they say: in the process, and as examples/vectors runs it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { z } from 'zod';
import { ROOT } from '../../architecture/sources.js';
import { SCANS, scan } from './fixture-scan.js';
import { bytesOfVector, VECTOR_FILE, type Vector, vectorFiles } from './vector-file.js';

const files = vectorFiles();

interface Answer {
  readonly verdict: string;
  readonly output?: unknown;
  /** Absent if the kit knows only that something is wrong: a connection ended, a URL has no canonical form. */
  readonly rule?: string;
  readonly offset?: number;
}

/** What the example program answers to each vector, in their order. */
async function answers(): Promise<Answer[]> {
  const child = spawn(process.execPath, [join(ROOT, 'examples/vectors/kit.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = files.flatMap(({ kind, vectors }) =>
    vectors.map((vector) => {
      const { parameters = {} } = vector;
      return `${JSON.stringify({ kind, input: bytesOfVector(vector).toString('base64'), parameters })}\n`;
    }),
  );
  child.stdin.end(lines.join(''));
  return (await text(child.stdout))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The answer that a vector requires. */
function required(vector: Vector, given: Answer | undefined): Answer {
  if (vector.verdict !== 'invalid') return { verdict: 'accept', output: vector.output };
  const { rule, offset } = vector;
  if (given?.rule === undefined) return { verdict: 'reject' };
  return { verdict: 'reject', rule, ...(given.offset !== undefined && { offset: offset ?? given.offset }) };
}

t.test('files of vectors have the form of the schema, and names of their own', async (t) => {
  t.ok(files.length >= 14, `${files.length} files`);
  for (const { file, kind, vectors } of files) {
    t.equal(basename(file), `${kind}.json`);
    t.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length, `${file}: names`);
    for (const { name, input, inputBase64 } of vectors)
      t.ok((input === undefined) !== (inputBase64 === undefined), `${file} ${name}: one input`);
  }
});

t.test('the JSON schema is that of the code', async (t) => {
  const schema = z.toJSONSchema(VECTOR_FILE, { io: 'input' });
  t.same(JSON.parse(readFileSync(join(ROOT, 'protocols/vectors.schema.json'), 'utf8')), schema);
});

t.test('queries find what a plain scan of the fixture finds', async (t) => {
  const queries = files.filter(({ kind }) => kind === 'fixture-query').flatMap(({ vectors }) => vectors);
  const found = queries.flatMap((vector) => (vector.verdict === 'invalid' ? [] : [vector]));
  t.same(found.map(({ name }) => name).sort(), Object.keys(SCANS).sort());
  for (const { name, rules, output } of found)
    t.same(output, scan(SCANS[name] ?? (() => false)), `${rules.join(', ')}: ${name}`);
});

t.test('the kit answers every vector as it says', async (t) => {
  const given = await answers();
  const all = files.flatMap(({ kind, vectors }) => vectors.map((vector) => ({ kind, vector })));
  t.equal(given.length, all.length);
  for (const [index, { kind, vector }] of all.entries())
    t.same(
      given[index],
      required(vector, given[index]),
      `${vector.rules.join(', ')}: ${kind} ${vector.name}`,
    );
});
