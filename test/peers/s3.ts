// Blobs in the buckets of other people's servers: the contract, a server that is killed in the middle, and what is
// said when the login or the bucket is wrong.
import { join } from 'node:path';
import t from 'tap';
import { testBlobs } from '../../storage/blobs/conformance.js';
import type { BlobSource } from '../../storage/blobs/contract.js';
import { openBucket, type S3BlobsOptions } from '../../storage/blobs/s3/s3-blobs.js';
import { bytesSource, digestOf } from '../../storage/blobs/sources.js';
import { isS3ServerInstalled, S3Server, type S3ServerName, TEST_LOGIN } from '../helpers/s3/servers.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

/** S3 accepts no smaller parts, but for the last one. */
const PART_BYTES = 5 << 20;
const LARGE_BYTES = 2 * PART_BYTES + 12_345;

for (const name of ['s3proxy', 'moto'] satisfies S3ServerName[]) {
  const skip = !isS3ServerInstalled(name) && `${name} is not installed`;
  t.test(`buckets of ${name}`, { skip }, async (t) => {
    await using server = await S3Server.start(name, await temporaryDirectory(t));
    const open = (path: string, options: S3BlobsOptions = {}) =>
      openBucket(`s3://bucket/${path}?endpoint=${server.endpoint}`, { env: TEST_LOGIN, ...options });

    testBlobs({
      test: (what, run) => t.test(what, run),
      name,
      open: (place) => open(`contract/${place}`, { partBytes: PART_BYTES, pageBlobs: 3 }),
      largeBytes: LARGE_BYTES,
      isAtomic: name !== 's3proxy',
    });

    await t.test('a bucket that does not exist is told', async (t) => {
      await using store = await openBucket(`s3://no-such-bucket?endpoint=${server.endpoint}`, {
        env: TEST_LOGIN,
      });
      const message = `there is no bucket no-such-bucket at ${server.endpoint}`;
      await t.rejects(store.put('a', bytesSource(Buffer.from('a'))), { code: 'ERR_STORAGE', message });
    });

    // Moto compares no signatures.
    if (name === 'moto') return;

    await t.test('wrong logins and clocks are told', async (t) => {
      const put = async (options: S3BlobsOptions): Promise<void> => {
        await using store = await open('login', options);
        await store.put('a', bytesSource(Buffer.from('a')));
      };
      const secret = { ...TEST_LOGIN, AWS_SECRET_ACCESS_KEY: 'not-it' };
      await t.rejects(put({ env: secret }), { message: /the secret key \(AWS_SECRET_ACCESS_KEY\) is wrong/ });
      const key = { ...TEST_LOGIN, AWS_ACCESS_KEY_ID: 'not-it' };
      await t.rejects(put({ env: key }), { message: /does not know the access key/ });
      const wallClock = () => Date.now() - 3_600_000;
      await t.rejects(put({ wallClock }), {
        message: /the clock of this machine differs from that of \S+ by 3[56]\d\d seconds/,
      });
    });

    await t.test('a server that is killed while a blob is sent and read', async (t) => {
      await using store = await open('killed', { partBytes: PART_BYTES });
      const plain: BlobSource = {
        size: LARGE_BYTES,
        async *open(start, end) {
          for (let at = start; at < end; at += 65536)
            yield Buffer.alloc(Math.min(65536, end - at), `${Math.floor(at / 65536)};`);
        },
      };
      let restarted: Promise<void> | undefined;
      const source: BlobSource = {
        ...plain,
        async *open(start, end) {
          for await (const piece of plain.open(start, end)) {
            yield piece;
            // In the middle of the second part, when it is sent and not only read for its sum.
            if (restarted === undefined && start > 0) restarted = server.kill().then(() => server.restart());
          }
        },
      };
      await store.put('sent', source);
      await restarted;
      const expected = await digestOf(plain.open(0, LARGE_BYTES));
      t.same(await digestOf(store.read('sent')), expected, 'it has arrived as it is');

      restarted = undefined;
      async function* readAndKill(): AsyncGenerator<Uint8Array> {
        for await (const piece of store.read('sent')) {
          yield piece;
          restarted ??= server.kill().then(() => server.restart());
        }
      }
      t.same(await digestOf(readAndKill()), expected, 'it is read to its end');
      await restarted;
    });
  });
}

t.test('an endpoint that is down', async (t) => {
  const endpoint = 'http://127.0.0.1:9';
  await using store = await openBucket(`s3://bucket?endpoint=${endpoint}`, {
    env: { ...TEST_LOGIN, HOME: join('/', 'nonexistent') },
    patienceMs: 200,
  });
  await t.rejects(store.head('a'), { message: /^http:\/\/127\.0\.0\.1:9 does not answer: / });
});
