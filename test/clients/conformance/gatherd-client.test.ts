// Tests the conformance suite for gatherd clients: our own client passes, and each mistake fails the cases about it.
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { ClientUnderTest } from '../../../clients/conformance/client-under-test.js';
import {
  CLIENT_CASES,
  type ClientsUnderTest,
  prepareClients,
  suite,
} from '../../../clients/conformance/gatherd-client/suite.js';
import { type CaseResult, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { cli, PROGRAM } from '../../helpers/cli.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';
import { type GatherdMistake, gatherdClient } from './broken-clients/gatherd-client.js';
import { beckettClient, roadsClient } from './broken-clients/historic-clients.js';
import { OWN_GATHERD_CLIENTS } from './own-clients.js';

const BROKEN_CLIENT = fileURLToPath(new URL('broken-clients/main.js', import.meta.url));

type Run = (
  port: number,
  output: (piece: Uint8Array) => void | Promise<void>,
  signal: AbortSignal,
) => Promise<number>;

/** A client as a function, because starting a process would take longer than most of these runs. */
function client(name: string, run: Run): ClientUnderTest {
  return {
    name,
    run: async ({ port }, output, signal) => ({ status: await run(port, output, signal), diagnostics: '' }),
  };
}

function clientsWith(mistake: GatherdMistake): ClientsUnderTest {
  return {
    client: client(mistake, (port, output, signal) => gatherdClient(mistake, 'update', port, output, signal)),
    infoClient: client(mistake, (port, output, signal) =>
      gatherdClient(mistake, 'info', port, output, signal),
    ),
  };
}

async function results(clients: ClientsUnderTest, options: RunOptions = {}): Promise<CaseResult[]> {
  await using prepared = prepareClients(clients);
  const all: CaseResult[] = [];
  for await (const result of runSuite(prepared, options)) all.push(result);
  return all;
}

const named = (all: readonly CaseResult[], verdict: CaseResult['verdict']) =>
  all.filter((result) => result.verdict === verdict).map(({ id }) => id);

/** Runs the suite with arguments, as the command line does. */
async function verdicts(args: readonly string[], options: RunOptions = {}): Promise<Record<string, string>> {
  await using prepared = await suite.prepare(args, {});
  const found: Record<string, string> = {};
  for await (const { id, verdict } of runSuite(prepared, options)) found[id] = verdict;
  return found;
}

const program = (...args: string[]) => ['--', 'env', ...PLAIN_NODE, BROKEN_CLIENT, ...args];

t.test('GATHERD-11.4: our own client passes every case', async (t) => {
  const all = await results(OWN_GATHERD_CLIENTS);
  t.same(
    all.filter(({ verdict }) => verdict !== 'pass').map(({ id, message }) => `${id}: ${message}`),
    [],
  );
  t.equal(all.length, CLIENT_CASES.length);
});

t.test('GATHERD-11.4: `harvest gather` passes a case of every kind as a program', async (t) => {
  const only = [
    'session/plain',
    'commands/*',
    'value/huge',
    'incomplete/in-value',
    'compression/refused',
    'gzip/header-all',
    'info/600-before',
  ];
  const harvest = `env -u NODE_OPTIONS ${process.execPath} ${PROGRAM}`;
  const found = await cli(
    ...['conformance', 'gatherd-client', '--strict', ...only.flatMap((pattern) => ['--only', pattern])],
    ...[
      `--info=${harvest} gather -info {host} {port}`,
      '--',
      ...harvest.split(' '),
      'gather',
      '{host}',
      '{port}',
    ],
  );
  t.equal(found.code, 0, found.stdout + found.stderr);
  t.equal([...found.stdout.matchAll(/^ok /gm)].length, 11);
  t.notMatch(found.stdout, /# SKIP/);
});

/** The cases in which the client must report a failure. */
const FAILED_TRANSFERS = CLIENT_CASES.map(({ id }) => id).filter(
  (id) => /^(?:incomplete|refused)\//.test(id) || /^gzip\/(?:bad-|cut-|not-)/.test(id),
);

/** The cases that each mistake fails; all others must pass. */
const EXPECTED: readonly (readonly [mistake: GatherdMistake, fails: readonly string[]])[] = [
  ['none', []],
  ['searches-end-line', ['value/end-line', 'value/end-line-099', 'value/closing-brace']],
  ['ignores-missing-end', ['incomplete/no-end-line', 'incomplete/nothing', 'incomplete/between-objects']],
  ['ignores-trailer', ['gzip/bad-crc', 'gzip/bad-crc-end-line', 'gzip/bad-length']],
  ['first-member-only', ['gzip/members', 'gzip/members-line-end']],
  ['lower-case', ['commands/spelling']],
  ['never-quits', ['commands/quit']],
  ['always-succeeds', FAILED_TRANSFERS],
  [
    'insists-on-compression',
    ['compression/refused', 'compression/other-answer', 'compression/refused-with-text'],
  ],
  ['decodes-values', ['value/binary', 'gzip/values']],
  ['knows-only-fname', ['gzip/header-extra', 'gzip/header-comment', 'gzip/header-crc', 'gzip/header-all']],
  [
    'trusts-first-line',
    [
      'lines/unknown-lines',
      'lines/unknown-codes',
      'gzip/line-end',
      'gzip/line-ends',
      'gzip/members-line-end',
    ],
  ],
  ['reserves-wrappers', ['sections/type-update']],
  ['sends-date', ['commands/timestamp']],
  ['waits-for-close', ['session/closes']],
];

/** All cases but those that are slow with any client. Only our own client runs the slow ones. */
const QUICK: RunOptions = {
  only: CLIENT_CASES.map(({ id }) => id).filter((id) => !/huge|slow|single-bytes/.test(id)),
  timeoutMs: 3_000,
};

t.test(
  'GATHERD-2 to GATHERD-6: a client with one mistake fails the cases about it, and only these',
  async (t) => {
    for (const [mistake, expected] of EXPECTED) {
      const all = await results(clientsWith(mistake), QUICK);
      t.same(named(all, 'fail'), expected, mistake);
      const skipped = named(all, 'skip');
      if (mistake === 'insists-on-compression') {
        t.ok(
          skipped.includes('value/end-line'),
          'GATHERD-6.9: cases in clear are skipped for a client that insists on compression',
        );
      } else t.same(skipped, [], mistake);
    }
  },
);

t.test('GATHERD-3.11: a client that hangs fails the case, and the suite continues', async (t) => {
  const only = ['incomplete/nothing', 'gzip/cut-data', 'session/plain'];
  const all = await results(clientsWith('hangs'), { only, timeoutMs: 2500 });
  t.same(named(all, 'fail'), ['incomplete/nothing', 'gzip/cut-data']);
  t.match(all.find(({ id }) => id === 'gzip/cut-data')?.message, /no verdict within 2500 ms/);
});

t.test('GATHERD-7.3: the ROADS client fails the cases about its known defects', async (t) => {
  const all = await results({ client: client('roads', (port, output) => roadsClient(port, output)) }, QUICK);
  t.same(named(all, 'fail'), [
    'sections/run-together',
    'sections/type-update',
    ...CLIENT_CASES.map(({ id }) => id).filter((id) => id.startsWith('incomplete/')),
    'refused/bad-timestamp',
  ]);
  const reasons = all.filter(({ verdict }) => verdict === 'skip').map(({ message }) => message);
  t.same(
    [...new Set(reasons)],
    [
      'the client does not send HELLO (GATHERD-2.5)',
      'the client does not request compression',
      'no command for INFO is given (--info)',
    ],
  );
});

t.test('GATHERD-7.2: the sample client fails the cases about its known defects', async (t) => {
  const sample = (compression: boolean, info: boolean) =>
    client('sample', (port, output, signal) => beckettClient(port, output, { compression, info }, signal));
  const clear = await results(
    { client: sample(false, false), infoClient: sample(false, true) },
    { ...QUICK, timeoutMs: 1_000 },
  );
  t.same(named(clear, 'fail'), [
    'session/no-answer-to-quit',
    'lines/end-099',
    'value/end-line',
    'value/closing-brace',
    'refused/access-denied',
    'refused/bad-timestamp',
    'info/close',
  ]);
  const compressed = await results(
    { client: sample(true, false) },
    { only: ['gzip/dynamic', 'gzip/cut-header', 'refused/no-greeting'], timeoutMs: 2500 },
  );
  t.same(
    named(compressed, 'fail'),
    ['gzip/dynamic'],
    'GATHERD-6.6: it searches for a line that begins with 499',
  );
});

t.test('GATHERD-11.4: a program is run with the address, and its exit status counts', async (t) => {
  const both = ['session/plain', 'incomplete/nothing'];
  t.same(
    await verdicts(program('none', '{port}'), { only: both }),
    { 'session/plain': 'pass', 'incomplete/nothing': 'pass' },
    '{port} is replaced',
  );
  t.same(await verdicts(program('always-succeeds', '{port}'), { only: both }), {
    'session/plain': 'pass',
    'incomplete/nothing': 'fail',
  });
  t.same(
    await verdicts(['--', process.execPath, '-e', 'process.exit(process.argv.length - 1)'], {
      only: ['refused/no-connection', 'session/plain'],
    }),
    { 'session/plain': 'fail', 'refused/no-connection': 'pass' },
    'host and port are appended; a client that never connects passes only refused/no-connection',
  );
  t.same(
    await verdicts(['--', process.execPath, '-e', 'process.kill(process.pid)'], {
      only: ['refused/no-connection'],
    }),
    { 'refused/no-connection': 'fail' },
    'a crash is not an exit status',
  );
  t.same(
    await verdicts(program('roads', '{port}'), { only: both }),
    { 'session/plain': 'pass', 'incomplete/nothing': 'fail' },
    'GATHERD-7.3: the ROADS client as a program',
  );
  const hanging = await verdicts(['--', 'sh', '-c', 'sleep 100 & wait'], {
    only: ['session/plain'],
    timeoutMs: 300,
  });
  t.same(hanging, { 'session/plain': 'fail' });
});

t.test('GATHERD-11.4: with --no-output only the session and the exit status count', async (t) => {
  const only = ['session/plain', 'value/binary', 'commands/spelling', 'incomplete/in-value'];
  const silent = clientsWith('decodes-values');
  t.same(named(await results({ ...silent, checksOutput: false }, { only }), 'fail'), []);
  const lying = clientsWith('always-succeeds');
  t.same(named(await results({ ...lying, checksOutput: false }, { only }), 'fail'), ['incomplete/in-value']);
});

t.test('GATHERD-11.4: wrong arguments reject; the target is the command line', async (t) => {
  for (const args of [
    [],
    ['--'],
    ['--info'],
    ['--info', ''],
    ['--info', "a 'b"],
    ['--what', '--', 'x'],
    ['--', '/nonexistent/client'],
    ['--', 'no-such-client-anywhere'],
    ['--', tmpdir()],
  ]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
  }
  await checkTarget(
    t,
    ['--info', 'env \'b c\' "d\\" e" f\\ g', '--', 'sh', '-x'],
    'sh -x | env b c d" e f g',
  );
  await checkTarget(t, ['--no-output', 'sh', '--', 'y'], 'sh -- y');
});

async function checkTarget(t: Test, args: readonly string[], target: string): Promise<void> {
  await using prepared = await suite.prepare(args, {});
  t.equal(prepared.target, target);
}

t.test('GATHERD-1.6: a failure has the rules, the received line and the transcript', async (t) => {
  const [result] = await results(clientsWith('lower-case'), { only: ['commands/spelling'] });
  t.match(result, {
    verdict: 'fail',
    level: 'MUST',
    rules: ['GATHERD-2.3', 'GATHERD-2.1', 'GATHERD-2.2'],
    received: 'hello client.example.org',
  });
  const transcript = result?.transcript.map(({ direction, text }) => `${direction} ${text}`) ?? [];
  t.equal(transcript[1], 'sent 000 - HELLO 1.8 gatherer.example.org\\n');
  t.equal(transcript[2], 'received hello client.example.org\\n');
});
