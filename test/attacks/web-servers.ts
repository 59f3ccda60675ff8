// Servers of pages for attacks on HTTP.
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import { type Broker, WebServer } from '../../servers/broker/index.js';
import { createLoggerOn } from '../../servers/host/index.js';
import { type ApplicationOptions, createApplication, listenOn } from '../../servers/web/application.js';
import { sendLine } from '../../servers/web/replies.js';
import { openBroker } from '../servers/broker/helpers.js';
import { consoleScene } from '../servers/crawler/console-scene.js';
import { serveFixture } from '../servers/refererd/helpers.js';

/** Serves these routes until the test ends; whatever the options do not say is as small as it can be. */
export async function servePages(
  t: Test,
  options: Partial<ApplicationOptions> & Pick<ApplicationOptions, 'routes'>,
): Promise<{ readonly app: FastifyInstance; readonly port: number }> {
  const app = await createApplication({
    headers: {},
    hostNames: () => ({ names: [] }),
    assets: [],
    bodies: 'none',
    connections: { maxConnections: 50 },
    notFound: (_request, reply) => sendLine(reply, 404, 'not found'),
    failed: ({ reply, status }) => sendLine(reply, status, 'failed'),
    ...options,
  });
  t.teardown(() => app.close());
  const { port } = await listenOn(app, { host: '127.0.0.1', port: 0 }, 'pages');
  return { app, port };
}

/** Serves the pages of a Broker, which logs nothing about them. */
export async function serveBrokerPages(
  t: Test,
  broker: Broker,
  options: Partial<Parameters<typeof WebServer.listen>[0]> = {},
): Promise<number> {
  const web = await WebServer.listen({
    broker,
    brokerAddress: { host: '127.0.0.1', port: 1 },
    host: '127.0.0.1',
    port: 0,
    log: createLoggerOn({ write: () => undefined }, { program: 'web' }),
    ...options,
  });
  t.teardown(() => web.close());
  return web.address.port;
}

/** Every other HTTP server of the kit: starts it, and returns its port. */
export const PAGE_SERVERS: Readonly<Record<string, (t: Test) => Promise<number>>> = {
  'pages of the Broker': async (t) => serveBrokerPages(t, (await openBroker(t, { points: [] })).broker),
  'pages of the references server': async (t) => (await serveFixture(t)).address.port,
  console: async (t) => (await consoleScene(t)).crawlConsole.address.port,
};
