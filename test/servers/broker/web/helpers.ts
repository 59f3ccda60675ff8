// Helpers for tests of the Broker's web pages.
import { load } from 'cheerio';
import type { Clock } from '../../../../protocols/clock.js';
import { createWebApp } from '../../../../servers/broker/index.js';
import { ManualClock } from '../../../helpers/manual-clock.js';
import { corpus, type GathererDocument, serveCollected, type Teardown } from '../helpers.js';

/** The path of the query program. */
export const QUERY = '/Harvest/cgi-bin/BrokerQuery.pl.cgi';

/** A parsed page; `texts` returns the texts of the elements of a selector, `links` their addresses. */
function parsedPage(body: string) {
  const $ = load(body);
  const all = (selector: string) => $(selector).get();
  return {
    $,
    texts: (selector: string) => all(selector).map((element) => $(element).text().trim()),
    links: (selector: string) => all(selector).map((element) => $(element).attr('href')),
  };
}

/** Opens a broker over these documents with its port and its pages; `get` and `post` return a parsed page. */
export async function openWebsite(
  t: Teardown,
  options: {
    readonly documents?: readonly GathererDocument[];
    readonly conf?: string;
    readonly queueWaitMs?: number;
    readonly maxListed?: number;
    /** Default: one that stands still, so that a slow machine shows the same pages. */
    readonly clock?: Clock;
  } = {},
) {
  const { documents = corpus(), conf, maxListed, clock = new ManualClock(), ...limits } = options;
  const fixture = await serveCollected(t, documents, conf, limits);
  const { broker, server } = fixture;
  const app = await createWebApp({
    broker,
    brokerAddress: server.address,
    log: broker.log,
    clock,
    ...(maxListed === undefined ? {} : { maxListed }),
  });
  t.teardown(() => app.close());
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const { statusCode: status, headers: sent, body } = await app.inject({ url, headers });
    return { status, headers: sent, body, ...parsedPage(body) };
  };
  const post = async (
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const { statusCode: status, body } = await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    });
    return { status, body, ...parsedPage(body) };
  };
  return { ...fixture, app, get, post };
}
