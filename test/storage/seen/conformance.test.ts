// The conformance suite finds defects in a filter, and its example in the README runs as printed.
import t from 'tap';
import { seenFilterConformance } from '../../../storage/seen/conformance.js';
import { openSeenFilter, type SeenFilter } from '../../../storage/seen/index.js';
import { runReadmeExample } from '../readme-example.js';

/** Returns the names of the tests that a filter fails when some of its methods are replaced by `defects`. */
async function failures(defects: (filter: SeenFilter) => Partial<SeenFilter>): Promise<string[]> {
  const tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  seenFilterConformance({
    test: (name, run) => tests.push({ name, run }),
    name: 'it',
    open: async (directory) => {
      const filter = await openSeenFilter({ kind: 'memory-set', directory });
      return withMethods(filter, defects(filter));
    },
  });
  const failed: string[] = [];
  for (const { name, run } of tests) await run().catch(() => failed.push(name.replace(/^.*it: /, '')));
  return failed;
}

/** Returns a filter with some of its methods replaced. */
function withMethods(filter: SeenFilter, methods: Partial<SeenFilter>): SeenFilter {
  return new Proxy(filter, {
    get(target, name) {
      const value: unknown = name in methods ? Reflect.get(methods, name) : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const NEW_ONCE = 'a URI is new once, and again after it was forgotten';
const ORDER = 'overlapping calls take effect in their order';
const CLOSED = 'a closed filter refuses calls, and the close waits for those in flight';
const HISTORIES = 'random histories give the answers of a set';
const KEPT = 'a filter that is opened again has its keys';
const CRASH = 'a crash loses what was not committed, and nothing else';

t.test('the suite passes a correct filter and fails a wrong one', async (t) => {
  t.same(await failures(() => ({})), []);
  t.same(
    await failures(() => ({ forget: async () => undefined })),
    [NEW_ONCE, ORDER, CLOSED, HISTORIES, KEPT, CRASH],
    'forgets nothing',
  );
  t.same(
    await failures((filter) => ({
      commit: async () => undefined,
      close: () => filter.close(),
    })),
    [CLOSED, KEPT, CRASH],
    'does not commit',
  );
  t.same(
    await failures((filter) => ({
      add: async (uris) => {
        const isNew = await filter.add(uris);
        return isNew.map((flag, i) => (uris.indexOf(uris[i] ?? '') === i ? flag : 1));
      },
    })),
    [NEW_ONCE, HISTORIES],
    'reports an equal URI of the same batch as new',
  );
  t.same(
    await failures((filter) => {
      let closed = false;
      return {
        close: async () => {
          closed = true;
          await filter.close();
        },
        add: async (uris) => (closed ? new Uint8Array(uris.length) : filter.add(uris)),
      };
    }),
    [CLOSED],
    'answers after the close',
  );
});

t.test('the example of the README runs as printed', async (t) => {
  const { status, output } = await runReadmeExample(t, 'storage/seen/README.md');
  t.equal(status, 0, output);
  t.match(output, /# pass [1-9]/);
});
