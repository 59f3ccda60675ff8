// Every kind of server, with a request that is cheap and one that never ends.
import type { Test } from 'tap';
import type { Clock } from '../../protocols/clock.js';
import { sendLine } from '../../servers/web/replies.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, startGatherd } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { servePages } from './web-servers.js';

/** How many connections a server takes, and for how long they wait. What is undefined is its default. */
export interface ServedLimits {
  readonly maxConnections: number;
  readonly maxPerAddress?: number | undefined;
  readonly graceMs?: number;
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/**
 * A server, what a client that is served sends and receives, what a client sends that never completes a
 * request, and what one receives that is not served.
 */
export interface Served {
  readonly port: number;
  readonly request: string;
  readonly reply: RegExp;
  readonly beginning: string;
  readonly refusal: RegExp;
  /** What an idle client receives that must make room. */
  readonly eviction: RegExp;
}

async function gatherd(t: Test, { waitMs, ...limits }: ServedLimits): Promise<Served> {
  const { port } = await startGatherd(t, [entry('http://a.example/', 100, 'a')], {
    ...limits,
    admissionWaitMs: waitMs,
  });
  return {
    port,
    request: 'HELLO me\n',
    reply: /100 - HELLO me\n/,
    beginning: 'HEL',
    refusal: /^098 - .+\n$/,
    eviction: /^000 - .+\n999 - .+\n$/,
  };
}

async function broker(t: Test, { waitMs, ...limits }: ServedLimits): Promise<Served> {
  const fixture = await openBroker(t, { points: [] });
  // Its refusals are answers here; none is held back.
  const server = await serveBroker(t, fixture, { ...limits, admissionWaitMs: waitMs, refusalHoldMs: 0 });
  return {
    port: server.address.port,
    request: '#USER #END (\r\n',
    reply: /^111 - ERROR: Malformed/m,
    beginning: '#USER ',
    refusal: /^200 - .+\n111 - ERROR: .*busy.*\n$/,
    eviction: /^200 - .+\n111 - ERROR: .*busy.*\n$/,
  };
}

async function references(t: Test, { waitMs, maxConnections, ...limits }: ServedLimits): Promise<Served> {
  const { address } = await serveFixture(t, {
    ...limits,
    maxClients: maxConnections,
    admissionWaitMs: waitMs,
  });
  const busy = /^SSTP\/1\.0 503 SERVICE UNAVAILABLE\r\n\r\n$/;
  return {
    port: address.port,
    request: 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n',
    reply: /HEADER_NUMFOUND: 1\r\n/,
    beginning: 'SSTP/1.0 081 X\r\nHEADER',
    refusal: busy,
    eviction: busy,
  };
}

const HTTP_BUSY = /^HTTP\/1\.1 503 .*^retry-after: \d+\r\n.*\r\n\r\n.+\n$/ims;
const PAGE_REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
const PAGE_BEGINNING = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ';

/** The pages on the port of a references server. */
async function referencesPages(t: Test, limits: ServedLimits): Promise<Served> {
  const served = await references(t, limits);
  return {
    port: served.port,
    request: PAGE_REQUEST,
    reply: /<\/html>/,
    beginning: PAGE_BEGINNING,
    refusal: HTTP_BUSY,
    // One that has sent nothing has not chosen HTTP.
    eviction: new RegExp(`${served.eviction.source}|${HTTP_BUSY.source}`, HTTP_BUSY.flags),
  };
}

async function pages(t: Test, limits: ServedLimits): Promise<Served> {
  const { port } = await servePages(t, {
    connections: limits,
    routes: (app) => void app.get('/', (_request, reply) => sendLine(reply, 200, 'first')),
  });
  return {
    port,
    request: PAGE_REQUEST,
    reply: /first/,
    beginning: PAGE_BEGINNING,
    refusal: HTTP_BUSY,
    eviction: HTTP_BUSY,
  };
}

/** The servers by name, with their own number of connections. */
export const SERVED: Readonly<
  Record<string, readonly [serve: (t: Test, limits: ServedLimits) => Promise<Served>, limit: number]>
> = {
  gatherd: [gatherd, 2048],
  broker: [broker, 256],
  refererd: [references, 2048],
  'pages of refererd': [referencesPages, 2048],
  pages: [pages, 256],
};
