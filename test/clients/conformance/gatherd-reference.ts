// Our own gatherd with reference data, and a run of the gatherd suite against a port.
import { join } from 'node:path';
import type { Test } from 'tap';
import type { CaseResult } from '../../../clients/conformance/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { runCases } from './run-cases.js';

export interface Entry {
  readonly url: string;
  readonly time: number;
  readonly soif: Buffer;
}

/** An object with the attributes that Brokers require, in the layout of SOIF-2.2. */
function entry(url: string, time: number, body: string): Entry {
  const attributes = {
    'Gatherer-Name': 'Test',
    'Gatherer-Host': 'gatherer.example.org',
    'Gatherer-Version': '1.8',
    'Update-Time': String(time),
    Body: body,
  };
  const lines = Object.entries(attributes).map(
    ([name, value]) => `${name}{${Buffer.byteLength(value, 'latin1')}}:\t${value}\n`,
  );
  return { url, time, soif: Buffer.from(`@FILE { ${url}\n${lines.join('')}}\n`, 'latin1') };
}

/**
 * In the order of GATHERD-4.6. The values look like status lines, to detect clients that read line by line
 * (GATHERD-3.7, SOIF-1.2).
 */
export const ENTRIES: readonly Entry[] = [
  entry('http://a.example.org/', 1000, 'plain'),
  entry('http://b.example.org/', 1000, 'x\n499 - Sent 0 objects\n}\n@UPDATE {\n'),
  entry('http://c.example.org/', 2000, '\x00\x80\xff\r\n'),
  entry('http://d.example.org/%7euser/100%25', 3000, '499 - '),
  entry('http://e.example.org/', 4000, 'e'.repeat(5000)),
  entry('http://f.example.org/', 4000, 'refreshed'),
];

/**
 * Starts our own gatherd with {@link ENTRIES}. The last of them is refreshed: its content is of the time 1000.
 * Another object was deleted at 3500.
 */
export async function referenceServer(t: Test): Promise<number> {
  const directory = await temporaryDirectory(t);
  const generationsDirectory = join(directory, 'generations');
  await using store = await GathererStore.open(join(directory, 'working'));
  const put = async ({ url, time, soif }: Entry, contentTime = time) => {
    const summary = { url, updateTime: time, timeToLive: 2_419_200, contentTime, soif };
    await store.batch().putSummary(summary).commit();
  };
  for (const one of ENTRIES) await put(one, one.url === 'http://f.example.org/' ? 1000 : one.time);
  await put(entry('http://deleted.example.org/', 1500, 'gone'));
  await store.batch().deleteSummary('http://deleted.example.org/', 1500, { deletedAt: 3500 }).commit();
  await store.publish(generationsDirectory);
  const server = await GatherdServer.listen({
    generationsDirectory,
    host: '127.0.0.1',
    port: 0,
    hostname: 'gatherer.example.org',
    log: createLoggerOn({ write() {} }, { program: 'gatherd' }),
    lingerMs: 200,
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

/** Runs the gatherd suite against a port of loopback. */
export function runGatherdCases(port: number): Promise<CaseResult[]> {
  return runCases('gatherd', [`127.0.0.1:${port}`]);
}
