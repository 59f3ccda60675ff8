// G-81: logins of URLs in the rows of the working store.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { LoginSeal } from '../../../storage/generations/login-seal.js';
import { GathererStore } from '../../../storage/index.js';
import type { QueuedUri } from '../../../storage/records/records.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { documentRecord } from '../helpers.js';

const SECRET = 'joe:se%40cret';
const URL_WITH_LOGIN = `http://${SECRET}@a.test/`;

function queued(url: string): QueuedUri {
  return {
    url,
    via: url,
    pathFromSeed: '',
    root: 0,
    depth: 0,
    attempts: 0,
    forceFetch: false,
    isLeaf: false,
    cost: 1,
    sourceTag: url,
    network: 0,
  };
}

t.test('G-81: any text is opened as it was sealed, and no login is left in it', async (t) => {
  const seal = await LoginSeal.create(await temporaryDirectory(t));
  const login = fc.stringMatching(/^[a-z0-9%~!$&'()*+,;=:._-]{1,40}$/);
  const url = fc
    .record({ login, path: fc.webPath() })
    .map(({ login, path }) => `ftp://${login}@h.test${path}`);
  assertProperty(
    fc.property(fc.array(fc.oneof(url, fc.string(), fc.webUrl())), (texts) => {
      const text = JSON.stringify(texts);
      t.equal(seal.open(seal.seal(text)), text);
    }),
  );
  assertProperty(
    fc.property(login, (secret) => {
      const sealed = seal.seal(`http://${secret}@h.test/`);
      t.notOk(sealed.includes(`//${secret}@`));
      // A short one can be the end of what it is encrypted to.
      if (secret.length >= 12) t.notOk(sealed.includes(secret));
    }),
  );
});

t.test('G-81: rows of a store hold no login; a checkpoint opens them, a generation does not', async (t) => {
  const root = await temporaryDirectory(t);
  const [working, checkpoint, generations] = ['working', 'checkpoint', 'generations'].map((name) =>
    join(root, name),
  ) as [string, string, string];
  const entry = {
    classKey: 'a.test',
    directive: 3,
    precedence: 1,
    ordinal: 1,
    uri: queued(URL_WITH_LOGIN),
  };
  const document = documentRecord('http://a.test/', { links: [{ url: URL_WITH_LOGIN, hop: 'L' }] });
  {
    await using store = await GathererStore.open(working);
    await store
      .batch()
      .enqueue(entry)
      .putWaiting({ dueTime: 5, entry, status: -2, reason: `${URL_WITH_LOGIN} was refused` })
      .putDocument(document)
      .putMeta('nodes', JSON.stringify([URL_WITH_LOGIN]))
      .commit({ sync: true });
    await store.clone(checkpoint);
    await store.publish(generations);
  }
  for (const directory of [working, checkpoint, generations]) {
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const file = join(directory, name);
      if (statSync(file).isFile()) t.notMatch(readFileSync(file, 'latin1'), /cret/, name);
    }
  }
  for (const directory of [working, checkpoint]) {
    await using store = await GathererStore.open(directory);
    t.same(await store.queues.head('a.test'), entry);
    t.same(await store.documents.get('http://a.test/'), document);
    t.same((await store.waiting.page({ limit: 1 }))[0]?.reason, `${URL_WITH_LOGIN} was refused`);
    t.equal(await store.meta.get('nodes'), JSON.stringify([URL_WITH_LOGIN]));
  }
  t.notOk(
    readdirSync(generations, { recursive: true, encoding: 'utf8' }).some((name) => /LOGIN-KEY/.test(name)),
  );
  t.equal(statSync(join(working, 'LOGIN-KEY')).mode & 0o077, 0, 'the key is readable by its owner only');

  rmSync(join(checkpoint, 'LOGIN-KEY'));
  await t.rejects(GathererStore.open(checkpoint), {
    message: /LOGIN-KEY: it is missing; nothing was changed/,
  });
  rmSync(join(checkpoint, 'SEAL'));
  {
    await using store = await GathererStore.open(checkpoint);
    t.equal(
      (await store.queues.head('a.test'))?.uri.url,
      'http://a.test/',
      'without the key the login is left out',
    );
  }
  writeFileSync(join(checkpoint, 'LOGIN-KEY'), 'short');
  await t.rejects(GathererStore.open(checkpoint), { name: 'StorageError', message: /LOGIN-KEY.*5 bytes/ });
});

t.test('G-81: a store whose key cannot be written is closed, and can be opened when it can', async (t) => {
  const directory = join(await temporaryDirectory(t), 'working');
  const obstacle = join(directory, 'LOGIN-KEY.new');
  mkdirSync(obstacle, { recursive: true });
  await t.rejects(GathererStore.open(directory), /the key to the logins of URLs: EISDIR/);
  rmdirSync(obstacle);
  await using store = await GathererStore.open(directory);
  t.equal(store.summaries.count, 0);
});
