// Tests the conformance suite for clients of a Broker: our own client passes, and each mistake fails the cases about
// it.
import { tmpdir } from 'node:os';
import t from 'tap';
import {
  CLIENT_CASES,
  prepareClient,
  type QueryTask,
  suite,
} from '../../../clients/conformance/broker-client/suite.js';
import type { ClientUnderTest } from '../../../clients/conformance/client-under-test.js';
import { type CaseResult, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { cli, PROGRAM } from '../../helpers/cli.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';
import { type BrokerMistake, brokerClient } from './broken-clients/broker-client.js';
import { OWN_BROKER_CLIENT } from './own-clients.js';

async function results(client: ClientUnderTest<QueryTask>, options: RunOptions = {}): Promise<CaseResult[]> {
  await using prepared = prepareClient(client);
  const all: CaseResult[] = [];
  for await (const result of runSuite(prepared, { timeoutMs: 3_000, ...options })) all.push(result);
  return all;
}

function withMistake(mistake: BrokerMistake): ClientUnderTest<QueryTask> {
  return { name: mistake, run: ({ port, query }, output) => brokerClient(mistake, port, query, output) };
}

t.test('BRK-4.17: our own client passes every case', async (t) => {
  const all = await results(OWN_BROKER_CLIENT);
  t.same(
    all.filter(({ verdict }) => verdict !== 'pass').map(({ id, message }) => `${id}: ${message}`),
    [],
  );
  t.equal(all.length, CLIENT_CASES.length);
});

t.test('BRK-4.17: `harvest query` passes a case of every kind as a program', async (t) => {
  const only = [
    'session/*',
    'sent/phrase',
    'desc/holds-fatal',
    'attribute/lf',
    'error/111-*',
    'cut/in-bytes',
  ];
  const harvest = ['env', ...PLAIN_NODE, PROGRAM, 'query', '--json', '--attribute', 'author'];
  const found = await cli(
    ...['conformance', 'broker-client', '--strict', ...only.flatMap((pattern) => ['--only', pattern])],
    ...['--', ...harvest, '{host}:{port}', '{query}'],
  );
  t.equal(found.code, 0, found.stdout + found.stderr);
  t.equal([...found.stdout.matchAll(/^ok /gm)].length, 10);
  t.notMatch(found.stdout, /# SKIP/);
});

/** The cases that each mistake fails; all others must pass. */
const EXPECTED: readonly (readonly [mistake: BrokerMistake, fails: readonly string[]])[] = [
  ['none', []],
  [
    'reads-lines',
    ['desc', 'attribute'].flatMap((area) =>
      ['object-end', 'match', 'fatal'].map((trap) => `${area}/holds-${trap}`),
    ),
  ],
  ['counts-characters', ['desc/binary', 'attribute/binary']],
  ['always-skips-a-byte', ['desc/no-lf', 'attribute/no-lf']],
  ['treats-200-as-end', ['version/repeated']],
  ['insists-on-known-codes', ['codes/unknown']],
  ['keeps-cr', ['lines/crlf', 'lines/no-cr']],
  ['ends-at-103', ['error/103']],
  ['silent-about-errors', ['error/103-shown', 'error/111-shown', 'error/101-shown']],
  [
    'always-succeeds',
    ['error/111-status', 'cut/in-object', 'cut/in-bytes', 'cut/reset', 'cut/nothing', 'refused/gatherer'],
  ],
  ['shows-nothing-after-111', ['error/111-after-objects']],
  ['drops-unended-reply', ['error/111-after-objects', 'cut/keeps-objects']],
  ['half-closes', ['session/keeps-open']],
  ['lf-only', ['sent/line-end']],
  ['insenstive', ['sent/insensitive']],
  ['sends-twice', ['sent/one']],
  ['private-flag', ['sent/flags']],
  ['quotes-the-query', ['sent/word', 'sent/phrase', 'sent/parentheses', 'sent/structured']],
  ['ascii-only', ['sent/bytes-above-127']],
  [
    'no-end-flag',
    [
      'sent/form',
      'sent/word',
      'sent/phrase',
      'sent/parentheses',
      'sent/backslash',
      'sent/structured',
      'sent/bytes-above-127',
    ],
  ],
];

t.test('BRK-1 to BRK-4: a client with one mistake fails the cases about it, and only these', async (t) => {
  for (const [mistake, expected] of EXPECTED) {
    const all = await results(withMistake(mistake), {
      only: CLIENT_CASES.map(({ id }) => id).filter((id) => !/^delivery|no-connection/.test(id)),
    });
    const failed = all.filter(({ verdict }) => verdict === 'fail');
    t.same(
      failed.map(({ id }) => id),
      expected,
      `${mistake}: ${failed.map(({ id, message }) => `${id}: ${message}`).join('; ')}`,
    );
  }
});

t.test('BRK-1.7: wrong arguments reject; a failure has the rules and the transcript', async (t) => {
  for (const args of [[], ['--'], ['--what'], ['--', '/nonexistent/client'], ['--', tmpdir()]]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
  }
  const [result] = await results(withMistake('lf-only'), { only: ['sent/line-end'] });
  t.match(result, { verdict: 'fail', level: 'SHOULD', rules: ['BRK-1.9'], expected: 'CR LF' });
  const transcript = result?.transcript.map(({ direction, text }) => `${direction} ${text}`) ?? [];
  t.equal(transcript[1], 'sent 200 - HARVEST Broker 1.0\\n');
  t.equal(transcript[2], 'received #USER #desc #attribute author #index case insensitive #END lighthouse\\n');
  const silent: ClientUnderTest<QueryTask> = {
    name: 'silent',
    run: async () => ({ status: 0, diagnostics: '' }),
  };
  const all = await results(silent, { only: ['session/plain', 'sent/one', 'sent/form', 'desc/lf'] });
  t.same(
    all.map(({ id, verdict }) => `${id} ${verdict}`),
    ['session/plain fail', 'sent/one fail', 'sent/form skip', 'desc/lf skip'],
  );
});
