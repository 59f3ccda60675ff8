// Clients that use the servers as intended and check every answer.
import { strict as assert } from 'node:assert';
import { BrokerClient } from '../../clients/broker/index.js';
import { BulkClient } from '../../clients/bulk/index.js';
import { collectChanges, GatherdClient } from '../../clients/gatherd/index.js';
import { ReferencesClient } from '../../clients/references/index.js';
import { PeerError } from '../../protocols/errors.js';
import type { ServerAddresses } from './messages.js';

const HOST = '127.0.0.1';

/** One use of a server. Throws when an answer is wrong. */
export type ClientAction = (servers: ServerAddresses, random: () => number) => Promise<void>;

/** At least this part of the objects is always there: a round takes a thirtieth away. */
const SHARE = 0.8;

export const GOOD_CLIENTS: Readonly<Record<string, ClientAction>> = {
  'gatherd: everything, compressed': async ({ gatherd, objects }) => {
    let count = 0;
    for await (const _change of collectChanges({ host: HOST, port: gatherd, since: 0 })) count += 1;
    assert(count >= objects * SHARE, `${count} of ${objects} objects`);
  },
  'gatherd: plain stream, INFO and one object': async ({ gatherd }) => {
    await using client = new GatherdClient({ host: HOST, port: gatherd });
    let url: string | undefined;
    for await (const { object } of client.changes({ since: 0, compression: false, sections: false }))
      url ??= object.url;
    assert((await client.info()) !== undefined, 'INFO has an object');
    assert(url !== undefined, 'a stream has objects');
    await client.object(url);
    await client.quit();
  },
  'broker: a query': async ({ broker, objects }) => {
    const client = new BrokerClient({ host: HOST, port: broker });
    let count = 0;
    for await (const _hit of client.query('common')) count += 1;
    assert(count >= objects * SHARE, `${count} of ${objects} objects match`);
  },
  'broker: words, phrases, patterns': async ({ broker }, random) => {
    const client = new BrokerClient({ host: HOST, port: broker });
    const word = `word${Math.floor(random() * 17)}`;
    const queries = [
      `${word} AND common`,
      `"soak ${Math.floor(random() * 100)}"`,
      'vers.*n0',
      `Title: Page OR ${word}`,
    ];
    const query = queries[Math.floor(random() * queries.length)] ?? word;
    for await (const { url } of client.query(query)) assert(url.startsWith('http://'), url);
  },
  'broker: bulk transfer': async ({ broker, objects }, random) => {
    const client = new BulkClient({ host: HOST, port: broker });
    let count = 0;
    const request = random() < 0.5 ? { since: 0 } : { since: 0, interface: 2 as const, compress: true };
    for await (const _change of client.changes(request)) count += 1;
    assert(count >= objects * SHARE, `${count} of ${objects} objects`);
    assert((await client.digest(''))?.count !== undefined, 'a digest has a count');
  },
  'web: pages': async ({ web }, random) => {
    const paths = [
      '/',
      '/healthz',
      '/Harvest/cgi-bin/BrokerQuery.cgi?query=common',
      '/?query=word3',
      '/Harvest/style.css',
    ];
    const path = paths[Math.floor(random() * paths.length)] ?? '/';
    const response = await fetch(`http://${HOST}:${web}${path}`);
    await response.text();
    assert.equal(response.status, 200, path);
  },
  'references: links and pages': async ({ references, site }, random) => {
    await using client = new ReferencesClient({ host: HOST, port: references });
    let known = 0;
    for (let i = 0; i < 20; i++) {
      const url = `${site}${Math.floor(random() * 120)}.html`;
      const reply = await client.referers({ url }).catch((error: unknown) => {
        // A page that is missing in this round is unknown.
        if (!(error instanceof PeerError)) throw error;
      });
      if (reply !== undefined && reply.found > 0) known += 1;
    }
    assert(known >= 10, `${known} of 20 pages have links to them`);
    const response = await fetch(`http://${HOST}:${references}/`);
    await response.text();
    assert.equal(response.status, 200);
  },
};
