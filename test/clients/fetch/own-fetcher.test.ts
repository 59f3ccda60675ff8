// Fetchers of one's own: what they leave out, the limits of all retrievals, aborts and errors.
import t from 'tap';
import { createFetcher, fetcherOf, type OwnRequest } from '../../../clients/fetch/index.js';
import { ConnectionError, StateError, UsageError } from '../../../protocols/errors.js';

const URL = 'ftp://a.test/dir/x';

t.test('a result is filled up; the request has what a fetcher may use', async (t) => {
  const requests: OwnRequest[] = [];
  const fetcher = fetcherOf({
    fetch: (request) => {
      requests.push(request);
      return { body: 'grün', contentType: 'Text/Plain; charset="ISO-8859-5"', location: '../y' };
    },
  });
  const { beginTime, endTime, body, ...result } = await fetcher.fetch({
    url: URL,
    maxBytes: 3,
    headers: { etag: '"1"', lastModified: 7 },
  });
  t.match(requests, [{ url: URL, maxBytes: 3, etag: '"1"', lastModified: 7 }]);
  t.equal(
    Buffer.from(body).toString(),
    'gr\u00c3'.slice(0, 2) + Buffer.from([0xc3]).toString(),
    'G-86: bytes',
  );
  t.same(result, {
    url: URL,
    status: 200,
    headers: {},
    contentType: 'text/plain',
    charset: 'iso-8859-5',
    lastModified: 0,
    etag: '',
    truncated: true,
    location: 'ftp://a.test/y',
    local: false,
  });
  t.ok(beginTime > 1_000_000_000_000 && endTime >= beginTime);
});

t.test('the body is a copy: its buffer is transferred to a thread', async (t) => {
  const pool = Buffer.from('0123456789');
  const { body } = await fetcherOf({ fetch: () => ({ body: pool.subarray(2, 5) }) }).fetch({ url: URL });
  t.equal(Buffer.from(body).toString(), '234');
  t.equal(body.buffer.byteLength, 3);
});

t.test('G-85 errors, time limits and aborts of own fetchers, also without their signal', async (t) => {
  await t.rejects(
    fetcherOf({
      fetch: () => {
        throw new Error('the line is cut');
      },
    }).fetch({ url: URL }),
    new ConnectionError(`${URL}: the line is cut`),
  );
  await t.rejects(
    fetcherOf({ fetch: async () => Promise.reject(new StateError('own')) }).fetch({ url: URL }),
    { code: 'ERR_STATE', message: 'own' },
    'an error of the kit stays as it is',
  );
  await t.rejects(fetcherOf({ fetch: () => ({ status: 7 }) }).fetch({ url: URL }), UsageError);
  let closed = 0;
  const deaf = fetcherOf({ fetch: () => new Promise(() => undefined), close: () => closed++ });
  await t.rejects(deaf.fetch({ url: URL, timeoutMs: 20 }), { message: `${URL}: not retrieved in 20 ms` });
  const abort = new AbortController();
  const aborted = deaf.fetch({ url: URL, signal: abort.signal });
  abort.abort(new Error('enough'));
  await t.rejects(aborted, { message: 'enough' });
  const closing = deaf.fetch({ url: URL });
  await Promise.all([t.rejects(closing, { message: 'the fetcher was closed' }), deaf.close()]);
  await deaf.close();
  t.equal(closed, 1);
});

t.test('a fetcher of one’s own precedes the built-in one of its scheme', async (t) => {
  await using fetcher = createFetcher({
    userAgent: 'test',
    schemes: { gopher: fetcherOf({ fetch: ({ url }) => ({ body: `own ${url}` }) }) },
  });
  const { body } = await fetcher.fetch({ url: 'gopher://a.test/0x' });
  t.equal(Buffer.from(body).toString(), 'own gopher://a.test/0x');
});
