// A process that crawls hosts of loopback by names, for private-crawl-restart.test.ts: its arguments are a directory
// and the text of a configuration. A kill leaves its queues behind.
import dns, { type LookupAddress } from 'node:dns';
import dnsPromises from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { parseGathererConf } from '../../protocols/config/index.js';
import { crawlOrderSchema } from '../../servers/crawler/order/order.js';
import { type DocumentEvent, documentChannel, Gatherer } from '../../servers/gatherer/index.js';

/** `hN.inside` is 127.0.0.N; names in ZONE (`name=address,...`) have that address. */
const zone = new Map((process.env.ZONE ?? '').split(',').map((pair) => pair.split('=') as [string, string]));

function addressOf(host: string): string {
  const number = /^h(\d+)\.inside$/.exec(host)?.[1];
  const address = number === undefined ? zone.get(host) : `127.0.0.${number}`;
  if (address !== undefined) return address;
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
}

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;
const systemLookup = dns.lookup as unknown as (...given: unknown[]) => void;
const fakeLookup = (host: string, options: { all?: boolean }, callback: Callback): void => {
  if (typeof options === 'function' || isIP(host) !== 0) {
    systemLookup(host, options, callback);
    return;
  }
  try {
    const address = addressOf(host);
    if (options.all === true) process.nextTick(callback, null, [{ address, family: 4 }]);
    else process.nextTick(callback, null, address, 4);
  } catch (error) {
    process.nextTick(callback, error as Error);
  }
};
const fakePromise = async (host: string, options: { all?: boolean } = {}) => {
  const found = { address: addressOf(host), family: 4 };
  return options.all === true ? [found] : found;
};
Object.assign(dns, { lookup: fakeLookup });
Object.assign(dnsPromises, { lookup: fakePromise });
syncBuiltinESMExports();

const [directory = '', text = ''] = process.argv.slice(2);
documentChannel.subscribe((message) => process.stderr.write(`${(message as DocumentEvent).url}\n`));
await using gatherer = await Gatherer.open({
  directory,
  config: parseGathererConf(text, 'inside.cf', {}).config,
  essenceWorkers: 0,
  connectTimeoutMs: 2000,
  order: crawlOrderSchema.parse({
    logs: false,
    settings: { delayFactor: 0, minDelayMs: 5, maxDelayMs: 5, retryDelaySeconds: 0.01, maxRetries: 2 },
  }),
});
const { counts, end } = await gatherer.run(new AbortController().signal);
process.stdout.write(`${JSON.stringify({ counts, end })}\n`);
