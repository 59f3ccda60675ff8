import { load } from 'cheerio';
import { createWebApp } from '../../../servers/broker/index.js';
import { corpus, type GathererDocument, ScriptedGatherd, scene, serve, type Teardown } from './scene.js';

/** Path of the query program. */
export const QUERY = '/Harvest/cgi-bin/BrokerQuery.pl.cgi';

/** A broker with the documents, its port and its pages; `get` requests and parses a page. */
export async function website(
  t: Teardown,
  options: { readonly documents?: readonly GathererDocument[]; readonly conf?: string } = {},
) {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = [...(options.documents ?? corpus())];
  const made = await scene(t, { points: [gatherd.point(0)], conf: options.conf ?? '' });
  await made.broker.collect();
  const server = await serve(t, made);
  const { broker } = made;
  const app = await createWebApp({ broker, brokerAddress: server.address, log: broker.log });
  t.teardown(() => app.close());
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const { statusCode: status, headers: replied, body } = await app.inject({ url, headers });
    return { status, headers: replied, body, $: load(body) };
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
  return { ...made, server, app, get, post };
}
