// Our own Broker with reference data, and a run of the Broker suite against a port.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { CaseResult } from '../../../clients/conformance/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import {
  document,
  type GathererDocument,
  NOW,
  openBroker,
  ScriptedGatherd,
  serveBroker,
} from '../../servers/broker/helpers.js';
import { runCases } from './run-cases.js';

/** A document of the reference Broker. */
export interface Page {
  readonly url: string;
  readonly title: string;
  readonly description: string;
}

/** Their words overlap in every way that the cases need; no word is in all pages. */
export const PAGES: readonly Page[] = [
  {
    url: 'http://www.example.org/rivers/danube.html',
    title: 'Danube',
    description: 'A river with harbor towns',
  },
  {
    url: 'http://www.example.org/rivers/rhine.html',
    title: 'Rhine',
    description: 'A river and its castles\n130 - object end\n',
  },
  {
    url: 'http://www.example.org/rivers/elbe.html',
    title: 'Elbe',
    description: 'Long river with harbor and castles',
  },
  {
    url: 'http://www.example.org/towns/passau.html',
    title: 'Passau',
    description: 'Towns between mountains',
  },
  {
    url: 'http://www.example.org/towns/bremen.html',
    title: 'Bremen',
    description: 'Towns with harbor and castles',
  },
  {
    url: 'http://www.example.org/peaks/watzmann.html',
    title: 'Watzmann',
    description: 'Mountains and legends',
  },
  { url: 'ftp://ftp.example.org/notes.txt', title: 'Notes', description: '' },
];

const PASSWORD = 'open sesame';

/** Starts our own Broker with {@link PAGES}. */
export async function referenceBroker(t: Test, pages: readonly Page[] = PAGES): Promise<number> {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = pages.map(({ url, title, description }, i): GathererDocument => {
    const time = NOW - 10_000 + i;
    const text = description === '' ? {} : { Description: description };
    return { updateTime: time, text: document(url, { Title: title, Type: 'HTML', ...text }, time) };
  });
  const made = await openBroker(t, { points: [gatherd.point(0)] });
  await made.broker.collections.run();
  return (await serveBroker(t, made)).address.port;
}

/** Runs the Broker suite against a port of loopback, with the password. @param only patterns; default: all */
export async function runBrokerCases(
  t: Test,
  port: number,
  only: readonly string[] = [],
): Promise<CaseResult[]> {
  const file = join(await temporaryDirectory(t), 'password');
  await writeFile(file, `${PASSWORD}\n`);
  return await runCases('broker', [`127.0.0.1:${port}`, '--password-file', file], only);
}
