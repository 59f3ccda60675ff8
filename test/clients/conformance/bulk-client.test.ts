// Tests the conformance suite for clients of bulk transfers: our own client passes. `test/conformance` shows
// what it detects.
import t from 'tap';
import {
  BULK_CLIENT_CASES,
  prepareBulkClient,
  suite,
} from '../../../clients/conformance/bulk-client/suite.js';
import type { ClientUnderTest } from '../../../clients/conformance/command-client.js';
import type { CaseResult } from '../../../clients/conformance/index.js';
import { PROGRAM } from '../../helpers/cli.js';
import { ownBulkClient } from './own-clients.js';
import { programPasses, resultsOf } from './run-cases.js';

async function results(client: ClientUnderTest): Promise<CaseResult[]> {
  await using prepared = prepareBulkClient(client);
  return await resultsOf(prepared);
}

function failuresOf(all: readonly CaseResult[]): string[] {
  return all
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, message, received }) => `${id}: ${message}: ${received}`);
}

t.test('BT-2 to BT-20, BP-11 to BP-29: our own client passes every case', async (t) => {
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
    const command = ['--', process.execPath, PROGRAM, 'bulk', '--interface', version, '{host}:{port}'];
    const output = await programPasses(t, 'bulk-client', only, command);
    t.equal([...output.matchAll(/^ok [^#\n]*$/gm)].length, passed, output);
  }
});

t.test('BT-2: wrong arguments reject', async (t) => {
  for (const args of [[], ['--'], ['--what'], ['--', '/nonexistent/client']]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, args.join(' '));
  }
});
