// A process that crawls hosts of loopback by names, for private-crawl-restart.test.ts: its arguments are a
// directory and the text of a configuration. A kill leaves its queues behind.
import { parseGathererConf } from '../../protocols/config/index.js';
import { crawlOrderSchema } from '../../servers/crawler/order/order.js';
import { type DocumentEvent, documentChannel, Gatherer } from '../../servers/gatherer/index.js';
import { fakeNames } from './fake-names.js';

/** `hN.inside` is 127.0.0.N; names in ZONE (`name=address,...`) have that address. */
const zone = new Map((process.env.ZONE ?? '').split(',').map((pair) => pair.split('=') as [string, string]));

fakeNames((host) => {
  const number = /^h(\d+)\.inside$/.exec(host)?.[1];
  return number === undefined ? zone.get(host) : `127.0.0.${number}`;
});

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
