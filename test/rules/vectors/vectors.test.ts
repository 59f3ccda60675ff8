// The vectors keep their form, and the kit answers them as they say: in the process, and as examples/vectors runs it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { z } from 'zod';
import { ROOT } from '../../architecture/sources.js';
import { bytesOfVector, VECTOR_FILE, type Vector, vectorFiles } from './vector-file.js';

const files = vectorFiles();

/** What the example program answers to each vector, in their order. */
async function answers(): Promise<{ verdict: string; output?: unknown }[]> {
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
function required(vector: Vector): { verdict: string; output?: unknown } {
  return vector.verdict === 'invalid' ? { verdict: 'reject' } : { verdict: 'accept', output: vector.output };
}

t.test('files of vectors have the form of the schema, and names of their own', async (t) => {
  t.ok(files.length >= 7, `${files.length} files`);
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

t.test('the kit answers every vector as it says', async (t) => {
  const given = await answers();
  const all = files.flatMap(({ kind, vectors }) => vectors.map((vector) => ({ kind, vector })));
  t.equal(given.length, all.length);
  for (const [index, { kind, vector }] of all.entries())
    t.same(given[index], required(vector), `${vector.rules.join(', ')}: ${kind} ${vector.name}`);
});
