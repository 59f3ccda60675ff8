// Tests the conformance suite for clients of a references server: our own client passes. `test/conformance`
// shows what it detects.
import t from 'tap';
import {
  prepareSstpClient,
  SSTP_CLIENT_CASES,
  suite,
} from '../../../clients/conformance/sstp-client/suite.js';
import { PROGRAM } from '../../helpers/cli.js';
import { OWN_REFERENCES_CLIENT } from './own-clients.js';
import { programPasses, resultsOf } from './run-cases.js';

t.test('S-28 to S-48, R-24, R-31: our own client passes every case', async (t) => {
  await using prepared = prepareSstpClient(OWN_REFERENCES_CLIENT);
  const results = await resultsOf(prepared);
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, SSTP_CLIENT_CASES.length);
});

t.test(
  'R-46: `harvest references` passes as a program, and uses SSTP where there are no pages',
  async (t) => {
    const only = ['session/plain', 'empty/not-found', 'error/503', 'pages/generation'];
    const command = [
      '--',
      process.execPath,
      PROGRAM,
      'references',
      '--ids',
      '--all',
      '{host}:{port}',
      '{url}',
    ];
    const output = await programPasses(t, 'sstp-client', only, command);
    t.equal([...output.matchAll(/^ok [^#\n]*$/gm)].length, only.length, output);
  },
);

t.test('wrong arguments reject', async (t) => {
  for (const args of [[], ['--'], ['--what'], ['--', '/nonexistent/client']])
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
});
