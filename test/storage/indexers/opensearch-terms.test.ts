// What the OpenSearch engine remembers of its index until it changes.
import { createServer } from 'node:http';
import t from 'tap';
import { ClusterClient } from '../../../storage/indexers/opensearch/client.js';
import { IndexTerms } from '../../../storage/indexers/opensearch/index-terms.js';
import { listen } from '../../helpers/daemon.js';

t.test('the same words and searches are asked for once, until the index changes', async (t) => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const reply = request.url?.includes('_validate')
      ? { explanations: [{ explanation: 'all:cat (all:cats)^0.5' }] }
      : { hits: { hits: [{ _id: '7', _score: 1, matched_queries: ['0'] }] } };
    response.setHeader('content-type', 'application/json');
    request.resume().on('end', () => response.end(JSON.stringify(reply)));
  });
  const port = await listen(server);
  t.teardown(() => server.close());
  const client = new ClusterClient({ nodes: [`http://127.0.0.1:${port}`], patienceMs: 0 });
  t.teardown(() => client.close());
  const version = { epoch: 1 };
  const terms = new IndexTerms(client, 'library', version);
  const query = { term: { all: 'cat' } };
  const read = async () => [await terms.matching('all', 'cat.*'), await terms.search(query, 10)];
  const expected = [['cat', 'cats'], [{ oid: 7, names: ['0'] }]];
  t.same(await read(), expected);
  t.same(await read(), expected);
  t.equal(paths.length, 2);
  await terms.matching('title', 'cat.*');
  await terms.search(query, 11);
  t.equal(paths.length, 4, 'other ones are asked for');
  version.epoch++;
  t.same(await read(), expected);
  t.equal(paths.length, 6);
});
