// Tests the conformance suite for gatherd clients: our own client passes, and those of the 1990s fail the cases
// about their known defects. `test/conformance` shows what it detects.
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { ClientUnderTest } from '../../../clients/conformance/command-client.js';
import {
  CLIENT_CASES,
  type ClientsUnderTest,
  prepareClients,
  suite,
} from '../../../clients/conformance/gatherd-client/suite.js';
import type { CaseResult } from '../../../clients/conformance/index.js';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { encodeSoif } from '../../../protocols/soif/index.js';
import { type ClientChange, changedClient } from '../../conformance/client-run.js';
import { PROGRAM } from '../../helpers/cli.js';
import { beckettClient, roadsClient } from './historic-clients/historic-clients.js';
import { OWN_GATHERD_CLIENT, OWN_GATHERD_CLIENTS } from './own-clients.js';
import { failuresOf, programPasses, resultsOf } from './run-cases.js';

const ROADS = ['--', process.execPath, fileURLToPath(new URL('historic-clients/main.js', import.meta.url))];

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

/** Our own client with one defect. */
function changed(change: ClientChange): ClientsUnderTest {
  return {
    client: changedClient(
      OWN_GATHERD_CLIENT,
      () => change,
      () => {},
    ),
  };
}

async function results(
  clients: ClientsUnderTest,
  options: Parameters<typeof resultsOf>[1] = {},
): Promise<CaseResult[]> {
  await using prepared = prepareClients(clients);
  return await resultsOf(prepared, options);
}

/** Checks which cases fail; some of them may hang. @returns the results */
async function checkFails(
  t: Test,
  clients: ClientsUnderTest,
  only: readonly string[],
  expected: readonly string[],
): Promise<readonly CaseResult[]> {
  let all: readonly CaseResult[] = [];
  const failed = await failuresOf(expected, async (timeoutMs) => {
    all = await results(clients, { only, timeoutMs });
    return named(all, 'fail');
  });
  t.same(failed, expected);
  return all;
}

const named = (all: readonly CaseResult[], verdict: CaseResult['verdict']) =>
  all.filter((result) => result.verdict === verdict).map(({ id }) => id);

/** Runs the suite with arguments, as the command line does. */
async function verdicts(
  args: readonly string[],
  options: Parameters<typeof resultsOf>[1],
): Promise<Record<string, string>> {
  await using prepared = await suite.prepare(args, {});
  const all = await resultsOf(prepared, options);
  return Object.fromEntries(all.map(({ id, verdict }) => [id, verdict]));
}

t.test('GATHERD-2 to GATHERD-6, GATHERD-11.4: our own client passes every case', async (t) => {
  const all = await results(OWN_GATHERD_CLIENTS);
  t.same(
    all.filter(({ verdict }) => verdict !== 'pass').map(({ id, message }) => `${id}: ${message}`),
    [],
  );
  t.equal(all.length, CLIENT_CASES.length);
});

t.test('GATHERD-3.6: a client may request the description in the session of an update', async (t) => {
  for (const shows of [false, true]) {
    const curious = client(`INFO, ${shows ? 'shown' : 'not shown'}`, async (port, output) => {
      await using gatherd = new GatherdClient({ host: '127.0.0.1', port });
      const info = await gatherd.info();
      if (shows && info !== undefined) await output(encodeSoif(info));
      for await (const piece of gatherd.stream({ since: 0 })) await output(piece);
      await gatherd.quit();
      return 0;
    });
    const all = await results(
      { client: curious },
      { only: ['session/*', 'lines/*', 'gzip/members', 'sections/absent'] },
    );
    t.same(
      all.filter(({ verdict }) => verdict !== 'pass').map(({ id, message }) => `${id}: ${message}`),
      [],
    );
  }
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
  const harvest = [process.execPath, PROGRAM, 'gather'];
  const info = `--info=${harvest.join(' ')} -info {host} {port}`;
  const output = await programPasses(t, 'gatherd-client', only, [info, '--', ...harvest, '{host}', '{port}']);
  t.equal([...output.matchAll(/^ok /gm)].length, 11);
  t.notMatch(output, /# SKIP/);
});

/** All cases but those that are slow with any client. Only our own client runs the slow ones. */
const QUICK = CLIENT_CASES.map(({ id }) => id).filter((id) => !/huge|slow|single-bytes/.test(id));

t.test('GATHERD-6.9: cases in clear are skipped for a client that insists on compression', async (t) => {
  const insists: ClientChange = {
    received: (text) => (text.startsWith('900 - Compression') ? { text: '', action: 'reset' } : text),
  };
  const all = await results(changed(insists), {
    only: ['compression/refused', 'value/end-line', 'gzip/values'],
  });
  t.same(
    all.map(({ id, verdict }) => `${id} ${verdict}`),
    ['value/end-line skip', 'compression/refused fail', 'gzip/values pass'],
  );
});

t.test('GATHERD-3.11: a client that hangs fails the case', async (t) => {
  const hangs = (signal: AbortSignal) =>
    new Promise<number>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const hanging = client('hangs', (_port, _output, signal) => hangs(signal));
  const [result] = await results({ client: hanging }, { only: ['incomplete/nothing'], timeoutMs: 300 });
  t.match(result, { verdict: 'fail', message: 'no verdict within 300 ms' });
});

t.test('GATHERD-7.3: the ROADS client fails the cases about its known defects', async (t) => {
  const roads = client('roads', roadsClient);
  const all = await checkFails(t, { client: roads }, QUICK, [
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
  await checkFails(t, { client: sample(false, false), infoClient: sample(false, true) }, QUICK, [
    'session/no-answer-to-quit',
    'lines/end-099',
    'value/end-line',
    'value/closing-brace',
    'incomplete/gives-up',
    'refused/access-denied',
    'refused/bad-timestamp',
    'info/close',
    'info/none',
    'info/refused',
  ]);
  // GATHERD-6.6: it searches for a line that begins with 499.
  const compressed = ['gzip/dynamic', 'gzip/cut-header', 'refused/no-greeting'];
  await checkFails(t, { client: sample(true, false) }, compressed, ['gzip/dynamic']);
});

t.test('GATHERD-11.4: a program is run with the address, and its exit status counts', async (t) => {
  const both = ['session/plain', 'incomplete/nothing'];
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
    await verdicts([...ROADS, '{port}'], { only: both }),
    { 'session/plain': 'pass', 'incomplete/nothing': 'fail' },
    '{port} is replaced; GATHERD-7.3: the ROADS client reports no failure',
  );
  const hanging = await verdicts(['--', 'sh', '-c', 'sleep 100 & wait'], {
    only: ['session/plain'],
    timeoutMs: 300,
  });
  t.same(hanging, { 'session/plain': 'fail' });
});

t.test('GATHERD-11.4: with --no-output only the session and the exit status count', async (t) => {
  const only = ['session/plain', 'value/binary', 'commands/spelling', 'incomplete/in-value'];
  const silent = changed({ output: () => '' });
  t.same(named(await results({ ...silent, checksOutput: false }, { only }), 'fail'), []);
  const lying = changed({ status: () => 0 });
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
  const lowerCase = changed({ sent: (text) => text.toLowerCase() });
  const [result] = await results(lowerCase, { only: ['commands/spelling'] });
  t.match(result, {
    verdict: 'fail',
    level: 'MUST',
    rules: ['GATHERD-1', 'GATHERD-2.1', 'GATHERD-2.2', 'GATHERD-2.3'],
    received: /^hello \S+$/,
  });
  const transcript = result?.transcript.map(({ direction, text }) => `${direction} ${text}`) ?? [];
  t.equal(transcript[1], 'sent 000 - HELLO 1.8 gatherer.example.org\\n');
  t.match(transcript[2], /^received hello \S+\\n$/);
});
