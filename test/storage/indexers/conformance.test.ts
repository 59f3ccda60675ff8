// The conformance suite detects defects of an engine, and its example in the README runs as printed.
import t from 'tap';
import { indexerConformance } from '../../../storage/indexers/conformance.js';
import { type Indexer, openIndexer } from '../../../storage/indexers/index.js';
import { ALL_CAPABILITIES } from './embedded-fixture.js';

/**
 * Returns the names of the tests among `selected` that an engine fails when some of its methods are replaced by
 * `defects`.
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
    manifest: { capabilities: ALL_CAPABILITIES },
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
    ['whole words', 'an unsupported query is refused at the first hit'],
    'finds parts of words, and runs queries that it does not support',
  );
  const updates = /changes need a run|opened again|full rebuild/;
  t.same(
    await failures(updates, () => ({ remove: async () => undefined })),
    ['changes need a run; add replaces an object, remove deletes it'],
    'does not delete',
  );
  t.same(
    await failures(updates, () => ({ flush: async () => undefined })),
    [
      'changes need a run; add replaces an object, remove deletes it',
      'an engine that is opened again has its index and watermark',
      'clear starts a full rebuild',
    ],
    'does not flush',
  );
});
