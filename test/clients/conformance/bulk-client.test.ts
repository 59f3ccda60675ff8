// Tests the conformance suite for clients of bulk transfers: our own client passes, and each mistake fails the cases
// about it.
import t from 'tap';
import {
  BULK_CLIENT_CASES,
  prepareBulkClient,
  suite,
} from '../../../clients/conformance/bulk-client/suite.js';
import type { ClientUnderTest } from '../../../clients/conformance/client-under-test.js';
import { type CaseResult, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { cli, PROGRAM } from '../../helpers/cli.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';
import { type BulkMistake, bulkClient } from './broken-clients/bulk-client.js';
import { type ProposedMistake, proposedClient } from './broken-clients/proposed-client.js';
import { ownBulkClient } from './own-clients.js';

async function results(client: ClientUnderTest, options: RunOptions = {}): Promise<CaseResult[]> {
  await using prepared = prepareBulkClient(client);
  const all: CaseResult[] = [];
  for await (const result of runSuite(prepared, { timeoutMs: 3_000, ...options })) all.push(result);
  return all;
}

function failuresOf(all: readonly CaseResult[]): string[] {
  return all
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, message, received }) => `${id}: ${message}: ${received}`);
}

t.test('BT-10 to BT-20, BP-11 to BP-29: our own client passes every case', async (t) => {
  const second = await results(ownBulkClient(2));
  t.same(failuresOf(second), []);
  t.equal(second.filter(({ verdict }) => verdict === 'pass').length, BULK_CLIENT_CASES.length);
  const first = await results(ownBulkClient(1));
  t.same(failuresOf(first), []);
  const skipped = first.filter(({ verdict }) => verdict === 'skip').map(({ id }) => id);
  t.same(
    skipped,
    BULK_CLIENT_CASES.map(({ id }) => id).filter((id) => id.startsWith('proposed/')),
  );
});

t.test('BT-14: `harvest bulk` passes a case of every kind as a program, over both interfaces', async (t) => {
  for (const [version, passed, ...only] of [
    ['1', 2, 'groups/one-line', 'cut/in-object', 'proposed/wrong-count'],
    ['2', 2, 'error/shown', 'proposed/wrong-count'],
  ] as const) {
    const harvest = ['env', ...PLAIN_NODE, PROGRAM, 'bulk', '--interface', version];
    const found = await cli(
      ...['conformance', 'bulk-client', '--strict', ...only.flatMap((pattern) => ['--only', pattern])],
      ...['--', ...harvest, '{host}:{port}'],
    );
    t.equal(found.code, 0, found.stdout + found.stderr);
    t.equal([...found.stdout.matchAll(/^ok [^#\n]*$/gm)].length, passed, found.stdout);
  }
});

/** The cases that each mistake fails; all others must pass. */
const EXPECTED: readonly (readonly [mistake: BulkMistake, fails: readonly string[]])[] = [
  ['none', []],
  ['requires-three-groups', ['groups/missing', 'objects/bare', 'lines/success-between']],
  ['requires-order', ['groups/any-order', 'groups/repeated', 'lines/success-between']],
  ['requires-upper-case', ['groups/any-case']],
  ['requires-line-start', ['groups/run-on']],
  ['requires-layout', ['groups/one-line', 'groups/white-space', 'groups/run-on']],
  ['requires-groups', ['objects/bare']],
  ['requires-success', ['lines/no-success']],
  ['knows-only-file', ['objects/type']],
  ['stops-at-status', ['lines/success-between']],
  ['ignores-end-lines', ['lines/end', 'lines/end-error']],
  ['no-gzip', ['gzip/tolerated']],
  ['silent-about-errors', ['error/shown']],
  [
    'always-succeeds',
    [
      'error/status',
      'cut/in-object',
      'cut/in-group',
      'cut/in-header',
      'cut/nothing',
      'cut/reset',
      'refused/gatherer',
    ],
  ],
  ['drops-cut-transfer', ['cut/keeps-objects']],
  ['half-closes', ['session/keeps-open']],
  ['lf-only', ['sent/line-end']],
  ['sends-user-message', ['sent/form']],
  ['sends-word-as-since', ['sent/form']],
  ['sends-twice', ['sent/one']],
  ['reads-lines', ['objects/holds-close', 'objects/holds-group']],
  ['counts-characters', ['objects/binary']],
];

t.test('BT-2 to BT-20: a client with one mistake fails the cases about it, and only these', async (t) => {
  const check = async ([mistake, expected]: (typeof EXPECTED)[number]) => {
    const client: ClientUnderTest = {
      name: mistake,
      run: ({ port }, output) => bulkClient(mistake, port, output),
    };
    const all = await results(client, {
      only: BULK_CLIENT_CASES.map(({ id }) => id).filter((id) => !/^delivery|no-connection/.test(id)),
    });
    t.same(
      all.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id),
      expected,
      `${mistake}: ${failuresOf(all).join('; ')}`,
    );
  };
  // A run mostly waits.
  await Promise.all(EXPECTED.map(check));
});

/** The cases of `proposed/` that each mistake fails; all others must pass. */
const PROPOSED: readonly (readonly [mistake: ProposedMistake, fails: readonly string[]])[] = [
  ['none', []],
  ['reads-version-by-line', ['line-feed-in-number', 'higher-major']],
  ['requires-minor-0', ['line-feed-in-number', 'higher-minor']],
  ['accepts-any-major', ['higher-major']],
  [
    'requires-header',
    [
      'no-header',
      'groups-any-order',
      'line-feed-in-number',
      'error',
      'error-behind-objects',
      'wrong-count',
      'keeps-objects',
    ],
  ],
  ['requires-trailer', ['no-trailer']],
  ['header-in-order', ['header-order']],
  ['rejects-extensions', ['extension']],
  ['ignores-magic', ['wrong-magic']],
  ['skips-unknown-codes', ['unknown-code']],
  ['one-group-each', ['groups-any-order']],
  ['searches-end-marker', ['compressed-marker']],
  ['ignores-missing-end-marker', ['no-end-marker']],
  ['no-limits', ['long-string']],
  ['ignores-count', ['wrong-count']],
  ['ignores-errors', ['error', 'error-behind-objects']],
  ['shows-nothing-when-failed', ['error-behind-objects', 'keeps-objects']],
];

t.test('BP-11 to BP-29: a client of interface 2 with one mistake fails the cases about it', async (t) => {
  const check = async ([mistake, expected]: (typeof PROPOSED)[number]) => {
    const client: ClientUnderTest = {
      name: mistake,
      run: ({ port }, output) => proposedClient(mistake, port, output),
    };
    const all = await results(client, { only: ['proposed/*'] });
    t.same(
      all.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id.replace('proposed/', '')),
      expected,
      `${mistake}: ${failuresOf(all).join('; ')}`,
    );
  };
  await Promise.all(PROPOSED.map(check));
});

t.test('BT-2: wrong arguments reject', async (t) => {
  for (const args of [[], ['--'], ['--what'], ['--', '/nonexistent/client']]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
  }
});
