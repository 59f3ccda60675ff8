// Stores of blobs: the contract in a directory and in a bucket, and how a bucket's failures are told and survived.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Clock } from '../../../protocols/clock.js';
import { testBlobs } from '../../../storage/blobs/conformance.js';
import { DirectoryBlobs } from '../../../storage/blobs/directory-blobs.js';
import { openBlobs } from '../../../storage/blobs/place.js';
import { readAwsProfile } from '../../../storage/blobs/s3/aws-profile.js';
import { readBucketAddress } from '../../../storage/blobs/s3/bucket-address.js';
import { openBucket, type S3BlobsOptions } from '../../../storage/blobs/s3/s3-blobs.js';
import { bytesSource, readBlob } from '../../../storage/blobs/sources.js';
import { BucketServer, type BucketServerFault } from '../../helpers/bucket-server.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const LOGIN = { AWS_ACCESS_KEY_ID: 'harvest', AWS_SECRET_ACCESS_KEY: 'TOPSECRET', HOME: '/nonexistent' };

/** A clock on which every pause is over at once. */
function hurriedClock(): Clock & { readonly paused: number[] } {
  let time = 0;
  const paused: number[] = [];
  return {
    paused,
    now: () => time,
    setTimer(callback, milliseconds) {
      paused.push(milliseconds);
      const immediate = setImmediate(() => {
        time += milliseconds;
        callback();
      });
      return () => clearImmediate(immediate);
    },
  };
}

function open(server: BucketServer, prefix = '', options: S3BlobsOptions = {}) {
  return openBucket(`s3://bucket${prefix}?endpoint=${server.endpoint}`, {
    env: LOGIN,
    clock: hurriedClock(),
    ...options,
  });
}

const bytes = (text: string): Buffer => Buffer.from(text);

t.test('a directory', async (t) => {
  const root = await temporaryDirectory(t);
  testBlobs({
    test: (name, run) => t.test(name, run),
    name: 'directory',
    open: async (place) => openBlobs(join(root, place)),
  });
  await t.test('a directory that is a file is told', async (t) => {
    await writeFile(join(root, 'file'), '');
    const store = new DirectoryBlobs(join(root, 'file'));
    await t.rejects(store.put('a', bytesSource(bytes('a'))), {
      code: 'ERR_STORAGE',
      message: /cannot be written/,
    });
  });
});

t.test('a bucket', async (t) => {
  await using server = await BucketServer.start();
  testBlobs({
    test: (name, run) => t.test(name, run),
    name: 'bucket',
    open: (place) => open(server, `/${place}/x`, { partBytes: 70_000, pageBlobs: 2 }),
  });
  await t.test('requests are signed, and the secret is in none', async (t) => {
    t.ok(server.requests.length > 100);
    for (const { headers, key } of server.requests) {
      t.match(
        headers.authorization,
        /^AWS4-HMAC-SHA256 Credential=harvest\/\d{8}\/us-east-1\/s3\/aws4_request/,
      );
      t.notMatch(JSON.stringify(headers) + key, /TOPSECRET/);
    }
  });
});

t.test('a store that fails for a while', async (t) => {
  const passing: readonly BucketServerFault[] = [
    { kind: 'cut' },
    { kind: 'cut', after: true },
    { kind: 'refuse', status: 503, code: 'SlowDown' },
    { kind: 'refuse', status: 500, code: 'InternalError' },
    { kind: 'refuse', status: 409, code: 'ConditionalRequestConflict' },
    { kind: 'refuse', status: 400, code: 'RequestTimeout' },
  ];
  for (const fault of passing) {
    await using server = await BucketServer.start();
    await using store = await open(server);
    let left = 3;
    server.fault = () => (left-- > 0 ? fault : undefined);
    t.equal(await store.putIfAbsent('a', bytes('mine')), true, `${JSON.stringify(fault)}: ours in the end`);
    left = 2;
    await store.put('b', bytesSource(bytes('b')));
    left = 2;
    t.equal(String(await readBlob(store, 'a', 10)), 'mine');
    // A refused HEAD has no body that names the reason.
    if (fault?.kind !== 'refuse' || fault.status >= 500) {
      left = 2;
      t.equal((await store.head('b'))?.size, 1);
    }
    t.equal(left, -1, 'each call met the failures');
  }
});

t.test('a reply that breaks off is continued where it ended', async (t) => {
  await using server = await BucketServer.start();
  await using store = await open(server);
  const content = Buffer.alloc(100_000, 'abcdefghijk');
  await store.put('long', bytesSource(content));
  server.requests.length = 0;
  server.fault = () => ({ kind: 'cut-body', bytes: 30_000 });
  t.ok((await readBlob(store, 'long', 200_000))?.equals(content));
  t.same(
    server.requests.slice(1).map(({ headers }) => headers.range),
    ['bytes=30000-200000', 'bytes=60000-200000', 'bytes=90000-200000'],
  );
  const tag = server.requests[1]?.headers['if-match'];
  t.ok(tag !== undefined, 'of the same content');

  let cuts = 1;
  server.fault = ({ method }) => {
    if (method !== 'GET' || cuts-- <= 0) return undefined;
    server.blobs.set('long', { content: Buffer.from('another'), written: 0 });
    server.blobs.set('other', { content, written: 0 });
    return { kind: 'cut-body', bytes: 3 };
  };
  await store.put('long', bytesSource(content));
  cuts = 1;
  const replaced = (async () => {
    for await (const _ of store.read('long')) server.blobs.set('long', { content, written: 0 });
  })();
  await t.rejects(replaced, { message: /replaced while it was read/ });
});

t.test('a store that sends nothing is given up', async (t) => {
  await using server = await BucketServer.start();
  const clock = hurriedClock();
  await using store = await open(server, '', { clock, patienceMs: 3000 });
  await store.put('long', bytesSource(bytes('0123456789')));
  server.fault = () => ({ kind: 'cut-body', bytes: 0 });
  await t.rejects(readBlob(store, 'long', 100), { code: 'ERR_STORAGE', message: /does not answer/ });
  server.fault = () => ({ kind: 'refuse', status: 503, code: 'SlowDown' });
  await t.rejects(store.head('long'), { message: /cannot answer at present \((?:SlowDown|503)\)/ });
  t.ok(clock.paused.length > 5, 'the pauses are many');
  t.ok(clock.paused.reduce((sum, pause) => sum + pause, 0) < 12_000, 'and bounded');
});

t.test('what an operator reads', async (t) => {
  await using server = await BucketServer.start();
  const { endpoint } = server;
  const sentences: readonly (readonly [BucketServerFault, RegExp])[] = [
    [
      { kind: 'refuse', status: 403, code: 'SignatureDoesNotMatch' },
      /the secret key \(AWS_SECRET_ACCESS_KEY\) is wrong/,
    ],
    [{ kind: 'refuse', status: 403, code: 'InvalidAccessKeyId' }, /does not know the access key/],
    [
      { kind: 'refuse', status: 403, code: 'AccessDenied' },
      /does not permit PUT a in the bucket bucket \(AccessDenied\)/,
    ],
    [{ kind: 'refuse', status: 400, code: 'ExpiredToken' }, /its session has expired/],
    [{ kind: 'refuse', status: 507, code: 'XMinioStorageFull' }, /has no room for more/],
    [{ kind: 'refuse', status: 403, code: 'QuotaExceeded' }, /has no room for more/],
    [
      {
        kind: 'refuse',
        status: 301,
        code: 'PermanentRedirect',
        headers: { 'x-amz-bucket-region': 'eu-west-1' },
      },
      /the bucket bucket is in the region eu-west-1, not in us-east-1: set AWS_REGION/,
    ],
    [{ kind: 'refuse', status: 404, code: 'NoSuchBucket' }, /there is no bucket bucket at http:/],
    [{ kind: 'refuse', status: 501, code: 'NotImplemented' }, /answers PUT a with NotImplemented: no/],
  ];
  for (const [fault, sentence] of sentences) {
    await using store = await open(server);
    server.fault = () => fault;
    const failed = store.put('a', bytesSource(bytes('a')));
    await t.rejects(failed, { code: 'ERR_STORAGE', message: sentence });
    const message = await failed.catch(String);
    t.notMatch(message, /TOPSECRET|Signature=/);
    t.match(message, /http:|the bucket bucket/);
  }
  server.fault = () => undefined;
  await using other = await openBucket(`s3://no-such?endpoint=${endpoint}`, { env: LOGIN });
  await t.rejects(other.put('a', bytesSource(bytes('a'))), {
    message: /there is no bucket no-such at http:/,
  });
  await t.rejects(readBlob(other, 'a', 10), { message: /there is no bucket no-such/ });
});

t.test('clocks that differ', async (t) => {
  await using server = await BucketServer.start({ wallClock: () => 1_000_000_000_000 });
  server.fault = () => ({ kind: 'refuse', status: 403, code: 'RequestTimeTooSkewed' });
  await using store = await open(server, '', { wallClock: () => 1_000_003_600_000 });
  await t.rejects(store.put('a', bytesSource(bytes('a'))), {
    message: /the clock of this machine differs from that of http:\S+ by 3600 seconds: set it/,
  });
});

t.test('an answer that is not of S3', async (t) => {
  await using server = await BucketServer.start();
  await using store = await open(server);
  server.fault = () => ({ kind: 'refuse', status: 404, code: '' });
  await t.rejects(store.put('a', bytesSource(bytes('a'))), { message: /is not a server of S3/ });
});

t.test('a login that has expired is read again', async (t) => {
  const home = await temporaryDirectory(t);
  const file = join(home, 'credentials');
  const write = (id: string) =>
    writeFile(file, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = x\naws_session_token=t\n`);
  await write('OLD');
  await using server = await BucketServer.start();
  await using store = await openBucket(`s3://bucket?endpoint=${server.endpoint}`, {
    env: { HOME: home, AWS_SHARED_CREDENTIALS_FILE: file },
  });
  server.fault = ({ headers }) =>
    headers.authorization?.includes('Credential=OLD/') === true
      ? { kind: 'refuse', status: 400, code: 'ExpiredToken' }
      : undefined;
  await write('NEW');
  await store.put('a', bytesSource(bytes('a')));
  t.equal(server.requests.length, 2);
  t.equal(server.requests[1]?.headers['x-amz-security-token'], 't');
});

t.test(
  'a store that does not compare keys first, and an upload that the store ends with an error',
  async (t) => {
    await using server = await BucketServer.start();
    await using store = await open(server, '', { partBytes: 10 });
    server.fault = ({ method, query }) =>
      method === 'POST' && query.has('uploadId')
        ? { kind: 'refuse', status: 400, code: 'InvalidPart' }
        : undefined;
    await t.rejects(store.put('parts', bytesSource(bytes('0123456789abcdef'))), { message: /InvalidPart/ });
    t.equal(server.requests.at(-1)?.method, 'DELETE', 'the parts are deleted');
    let isFirst = true;
    server.fault = ({ method, query }) => {
      if (method !== 'POST' || !query.has('uploadId') || !isFirst) return undefined;
      isFirst = false;
      return { kind: 'cut', after: true };
    };
    await store.put('parts', bytesSource(bytes('0123456789abcdef')));
    t.equal(
      String(server.blobs.get('parts')?.content),
      '0123456789abcdef',
      'an answer that is lost is looked up',
    );
  },
);

t.test('addresses of buckets', async (t) => {
  const read = (place: string, env = {}, profile = {}) => readBucketAddress(place, env, profile);
  t.equal(read('s3://b-1/p/q/').url.href, 'https://b-1.s3.us-east-1.amazonaws.com/');
  t.equal(read('s3://b-1/p/q/').prefix, 'p/q/');
  t.equal(read('s3://b-1/p').name, 's3://b-1/p');
  t.equal(read('s3://b.c', { AWS_REGION: 'eu-west-1' }).url.href, 'https://s3.eu-west-1.amazonaws.com/b.c');
  t.equal(read('s3://bkt?endpoint=http://127.0.0.1:9/x/').url.href, 'http://127.0.0.1:9/x/bkt');
  t.equal(read('s3://bkt?endpoint=http://s.example&style=host').url.href, 'http://bkt.s.example/');
  t.equal(read('s3://bkt', { AWS_ENDPOINT_URL: 'http://h:1' }, { region: 'r' }).url.href, 'http://h:1/bkt');
  t.equal(read('s3://bkt', {}, { region: 'r', style: 'path' }).url.href, 'https://s3.r.amazonaws.com/bkt');
  const refused: readonly (readonly [string, RegExp])[] = [
    ['s3://', /the name of a bucket/],
    ['s3://UPPER', /the name of a bucket/],
    ['s3://key:TOPSECRET@bucket/x', /a login belongs into the environment/],
    ['s3://bucket/a//b', /a prefix has/],
    ['s3://bucket/../x', /a prefix has/],
    ['s3://bucket?secret=TOPSECRET', /secret is not a parameter/],
    ['s3://bucket?endpoint=ftp://x', /endpoint is not a URL/],
    ['s3://bucket?endpoint=http://a:TOPSECRET@x', /endpoint is not a URL/],
    ['s3://bucket?style=TOPSECRET', /style is "path" or "host"/],
    ['s3://bucket?region=a/b', /region is not/],
  ];
  for (const [place, sentence] of refused) {
    t.throws(() => read(place), { code: 'ERR_STORAGE', message: sentence }, place);
    try {
      read(place);
    } catch (error) {
      t.notMatch(String(error), /TOPSECRET/);
    }
  }
});

t.test('the files of the AWS tools', async (t) => {
  const home = await temporaryDirectory(t);
  await mkdir(join(home, '.aws'));
  await writeFile(
    join(home, '.aws', 'credentials'),
    '# keys\n[default]\naws_access_key_id=A\naws_secret_access_key = S=1\n\n[ other ]\naws_access_key_id = B\naws_secret_access_key = T\n',
  );
  await writeFile(
    join(home, '.aws', 'config'),
    '[default]\nregion = eu-north-1\n[profile other]\nregion=r2\nendpoint_url = http://e:1\ns3 =\n  addressing_style = virtual\n  max = 1\n',
  );
  t.match(await readAwsProfile({ HOME: home }), {
    login: { accessKeyId: 'A', secretAccessKey: 'S=1' },
    region: 'eu-north-1',
  });
  t.match(await readAwsProfile({ HOME: home, AWS_PROFILE: 'other' }), {
    login: { accessKeyId: 'B', secretAccessKey: 'T' },
    region: 'r2',
    endpoint: 'http://e:1',
    style: 'host',
  });
  const env = { ...LOGIN, HOME: home, AWS_SESSION_TOKEN: 's' };
  t.match(
    (await readAwsProfile(env)).login,
    { accessKeyId: 'harvest', sessionToken: 's' },
    'the environment first',
  );
  await t.rejects(readAwsProfile({ HOME: home, AWS_PROFILE: 'none' }), {
    message: /there is no profile none/,
  });
  t.equal((await readAwsProfile({ HOME: join(home, 'empty') })).login, undefined);
  await t.rejects(openBucket('s3://bucket', { env: { HOME: join(home, 'empty') } }), {
    message: /no login is given: set AWS_ACCESS_KEY_ID/,
  });
});
