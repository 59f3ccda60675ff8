// Helpers for tests of the Broker's web pages.
import { load } from 'cheerio';
import { createWebApp } from '../../../servers/broker/index.js';
import {
  corpus,
  type GathererDocument,
  openBroker,
  ScriptedGatherd,
  serveBroker,
  type Teardown,
} from './helpers.js';

/** The path of the query program. */
export const QUERY = '/Harvest/cgi-bin/BrokerQuery.pl.cgi';

/** Opens a broker over these documents with its port and its pages; `get` and `post` return a parsed page. */
export async function openWebsite(
  t: Teardown,
  options: { readonly documents?: readonly GathererDocument[]; readonly conf?: string } = {},
) {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = [...(options.documents ?? corpus())];
  const fixture = await openBroker(t, { points: [gatherd.point(0)], conf: options.conf ?? '' });
  await fixture.broker.collect();
  const server = await serveBroker(t, fixture);
  const { broker } = fixture;
  const app = await createWebApp({ broker, brokerAddress: server.address, log: broker.log });
  t.teardown(() => app.close());
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await app.inject({ url, headers });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.body,
      $: load(response.body),
    };
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
    return { status, body, $: load(body) };
  };
  return { ...fixture, server, app, get, post };
}
