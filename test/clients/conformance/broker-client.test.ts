// Tests the conformance suite for clients of a Broker: our own client passes. `test/conformance` shows what it
// detects.
import { tmpdir } from 'node:os';
import t from 'tap';
import {
  CLIENT_CASES,
  prepareClient,
  type QueryTask,
  suite,
} from '../../../clients/conformance/broker-client/suite.js';
import type { ClientUnderTest } from '../../../clients/conformance/command-client.js';
import type { CaseResult } from '../../../clients/conformance/index.js';
import { changedClient } from '../../conformance/client-run.js';
import { PROGRAM } from '../../helpers/cli.js';
import { Wire } from './historic-clients/wire.js';
import { OWN_BROKER_CLIENT } from './own-clients.js';
import { programPasses, resultsOf } from './run-cases.js';

async function results(
  client: ClientUnderTest<QueryTask>,
  only: readonly string[] = [],
): Promise<CaseResult[]> {
  await using prepared = prepareClient(client);
  return await resultsOf(prepared, { only });
}

t.test('BRK-1 to BRK-4, BRK-4.17: our own client passes every case', async (t) => {
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
  const harvest = [process.execPath, PROGRAM, 'query', '--json', '--attribute', 'author'];
  const command = ['--', ...harvest, '{host}:{port}', '{query}'];
  const output = await programPasses(t, 'broker-client', only, command);
  t.equal([...output.matchAll(/^ok /gm)].length, 10);
  t.notMatch(output, /# SKIP/);
});

t.test('BRK-1.7: wrong arguments reject; a failure has the rules and the transcript', async (t) => {
  for (const args of [[], ['--'], ['--what'], ['--', '/nonexistent/client'], ['--', tmpdir()]]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
  }
  const lfOnly = { sent: (text: string) => text.replace('\r\n', '\n') };
  const client = changedClient(
    OWN_BROKER_CLIENT,
    () => lfOnly,
    () => {},
  );
  const [result] = await results(client, ['sent/line-end']);
  t.match(result, { verdict: 'fail', level: 'SHOULD', rules: ['BRK-1.9'], expected: 'CR LF' });
  const transcript = result?.transcript.map(({ direction, text }) => `${direction} ${text}`) ?? [];
  t.equal(transcript[1], 'sent 200 - HARVEST Broker 1.0\\n');
  t.match(transcript[2], /^received #USER .*#END lighthouse\\n$/);
  const silent: ClientUnderTest<QueryTask> = {
    name: 'silent',
    run: async () => ({ status: 0, diagnostics: '' }),
  };
  const all = await results(silent, ['session/plain', 'sent/one', 'sent/form', 'desc/lf']);
  t.same(
    all.map(({ id, verdict }) => `${id} ${verdict}`),
    ['session/plain fail', 'sent/one fail', 'sent/form skip', 'desc/lf skip'],
  );
});

/** A client that reads the greeting before it sends, as the centroid extractor does. It shows the whole reply. */
const greeted = (flags: string): ClientUnderTest<QueryTask> => ({
  name: 'greeted',
  async run({ host, port, query }, output, signal) {
    const wire = await Wire.open(host, port);
    signal.addEventListener('abort', () => wire.close());
    const greeting = await wire.readLine();
    const isBroker = greeting?.startsWith('200 - ') === true;
    let reply = '';
    if (isBroker) {
      wire.send(`#USER ${flags}#END ${query}\r\n`);
      for (let chunk = await wire.readChunk(); chunk !== undefined; chunk = await wire.readChunk())
        reply += chunk.toString('latin1');
    }
    wire.close();
    await output(Buffer.from(reply, 'latin1'));
    return { status: isBroker && reply !== '' ? 0 : 1, diagnostics: '' };
  },
});
const GREETED = greeted('');

t.test('BRK-1.3: a client that waits for the greeting gets a verdict where none comes', async (t) => {
  const only = ['session/plain', 'version/*', 'cut/nothing', 'refused/gatherer'];
  t.same(
    (await results(GREETED, only)).map(({ id, verdict, message }) => `${id} ${message ?? verdict}`),
    only
      .flatMap((id) => (id === 'version/*' ? ['version/repeated', 'version/other-text'] : [id]))
      .map((id) => `${id} pass`),
  );
  const [fooled] = await results(
    { ...GREETED, run: async (...run) => ({ ...(await GREETED.run(...run)), status: 0 }) },
    ['cut/nothing'],
  );
  t.match(fooled, { verdict: 'fail', rules: ['BRK-1.3'] });
});

t.test(
  'BRK-4.6: an attribute of any name that the client requests is sent; without one its cases are skipped',
  async (t) => {
    const verdicts = async (flags: string) =>
      new Set(
        (await results(greeted(flags), ['attribute/*', 'desc/*'])).map(
          ({ id, verdict }) => `${id.split('/')[0]} ${verdict}`,
        ),
      );
    t.same(await verdicts('#desc #attribute title '), new Set(['desc pass', 'attribute pass']));
    t.same(
      await verdicts('#attribute "X-Any Name" #attribute title '),
      new Set(['desc skip', 'attribute pass']),
    );
    t.same(await verdicts('#desc '), new Set(['desc pass', 'attribute skip']));
  },
);
