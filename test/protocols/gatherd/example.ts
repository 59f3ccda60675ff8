// Two objects, and a client of the kit that collects them, for the tests of the rules of gatherd.md.
import { GatherdClient, type GatherdClientOptions } from '../../../clients/gatherd/index.js';
import { entry, latin1, updateStream } from '../../servers/gatherd/helpers.js';

export const A = entry('http://a.example/', 100, 'first');
export const B = entry('http://b.example/B%7e', 200, 'second');
export const ALL = updateStream(A.soif + B.soif);
export const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

export const connect = (port: number, options: Partial<GatherdClientOptions> = {}) =>
  new GatherdClient({ host: '127.0.0.1', port, clientName: 'client.example.org', ...options }).connect();

export async function collect(client: GatherdClient, compression = false): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, bytes } of client.changes({ since: 0, compression })) {
    found.push(`${kind} ${latin1(bytes)}`);
  }
  return found;
}
export const BOTH = [`update ${A.soif}`, `update ${B.soif}`];
