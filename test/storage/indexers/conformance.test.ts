// The conformance suite detects defects of an engine, and its example in the README runs as printed.

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { indexerConformance } from '../../../storage/indexers/conformance.js';
import { type Indexer, type IndexerCapabilities, openIndexer } from '../../../storage/indexers/index.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';

t.setTimeout(240_000);
const root = dirname(fileURLToPath(import.meta.resolve('#package.json')));
const CAPABILITIES: IndexerCapabilities = {
  substrings: true,
  words: true,
  caseSensitive: true,
  errors: 8,
  phrases: true,
  attributes: true,
  regexp: true,
  comparison: true,
  not: true,
  score: true,
};

/**
 * Returns the names of the tests among `selected` that an engine fails when some of its methods are replaced by `defects`.
 */
async function failures(
  selected: RegExp,
  defects: (indexer: Indexer) => Partial<Indexer>,
): Promise<string[]> {
  const tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  indexerConformance({
    test: (name, run) => tests.push({ name, run }),
    name: 'it',
    open: async ({ directory, storeDirectory }) => {
      const indexer = await openIndexer({ type: 'embedded', brokerDirectory: directory, storeDirectory });
      const methods = defects(indexer);
      return new Proxy(indexer, {
        get(target, name) {
          const value: unknown = Reflect.get(name in methods ? methods : target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
    manifest: { capabilities: CAPABILITIES },
  });
  const chosen = tests.filter(({ name }) => selected.test(name));
  const failed: string[] = [];
  for (const { name, run } of chosen)
    await run().catch(() => failed.push(name.replace(/^(?:BRK-[\d., ]+)?|\s\(it\)$/g, '')));
  return failed;
}

t.test('the suite fails a wrong engine', async (t) => {
  const matching = /whole words|case is significant|first hit/;
  t.same(await failures(matching, () => ({})), []);
  t.same(
    await failures(matching, (indexer) => ({
      query: (expression, options) => indexer.query(expression, { ...options, ignoreCase: true }),
    })),
    ['case is significant unless it is ignored, in any script'],
    'ignores case',
  );
  t.same(
    await failures(matching, (indexer) => ({
      query: (expression, options) =>
        indexer.query(expression, { ...options, matchWord: false, errors: Math.min(options.errors, 8) }),
    })),
    ['whole words', 'what the engine does not support is refused at the first hit'],
    'finds parts of words, and runs queries that it does not support',
  );
  const updates = /changes need a run|after a close|full rebuild/;
  t.same(
    await failures(updates, () => ({ remove: async () => undefined })),
    ['changes need a run; add replaces, remove forgets'],
    'forgets nothing',
  );
  t.same(
    await failures(updates, () => ({ flush: async () => undefined })),
    [
      'changes need a run; add replaces, remove forgets',
      'the index and its watermark are there after a close',
      'clear starts a full rebuild',
    ],
    'does not flush',
  );
});

t.test('the example of the README runs as printed', async (t) => {
  const readme = await readFile(join(root, 'storage/indexers/README.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  // Inside the package, so that the name of the package resolves to it.
  const directory = await mkdtemp(join(root, 'dist', 'example-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'example.test.mjs');
  await writeFile(file, example);
  const { status, stdout } = spawnSync('env', [...PLAIN_NODE, '--test', '--test-reporter=tap', file], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout);
  t.match(stdout, /# pass [1-9]/);
});
