// The values that the stores write: classic-level never frees the memory of an empty one.
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import t from 'tap';
import { BrokerStore, GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { changeOf, documentRecord, GATHERER, queuedUri, summary } from '../helpers.js';

/** The tables of a closed store, as letters, and the keys of those rows that have an empty value. */
async function rowsOf(directory: string): Promise<{ readonly tables: string; readonly empty: string[] }> {
  const db = new ClassicLevel<Buffer, Buffer>(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const rows = await db.iterator().all();
  await db.close();
  return {
    tables: [...new Set(rows.map(([key]) => key.toString('latin1', 0, 1)))].join(''),
    empty: rows.filter(([, value]) => value.length === 0).map(([key]) => key.toString('latin1')),
  };
}

t.test('no row of a Gatherer', async (t) => {
  const directory = join(await temporaryDirectory(t), 'working');
  {
    await using store = await GathererStore.open(directory);
    await using seen = await store.openSeenFilter();
    const url = 'http://a.test/';
    await seen.add([url]);
    await store
      .batch()
      .putSummary(summary(url, 20))
      .putDocument(documentRecord(url))
      .putReferences({ url, time: 0, checkTime: 1, length: 1, links: ['http://b.test/'] })
      .enqueue({ classKey: 'a', directive: 1, precedence: 1, ordinal: 1, uri: queuedUri(url) })
      .putSeen(seen.takeChanges().rows)
      .commit();
    await store.batch().deleteSummary(url, 20, { deletedAt: 21 }).commit();
  }
  const { tables, empty } = await rowsOf(directory);
  t.match(tables, /A.*B.*D.*H.*Q.*U.*Z/);
  t.same(empty, []);
});

t.test('no row of a Broker', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  {
    await using store = await BrokerStore.open(directory, { now: () => 1000 });
    const change = (kind: 'update' | 'delete', url: string, time: number) =>
      changeOf(kind, url, { ...GATHERER, 'Update-Time': String(time), 'Time-to-Live': '5000' });
    await store.apply([change('update', 'http://a.test/', 900), change('update', 'http://b.test/', 900)], {
      key: 'p',
      last: 900,
    });
    await store.apply([change('delete', 'http://b.test/', 950)], { key: 'p', last: 950 });
  }
  const { tables, empty } = await rowsOf(directory);
  t.match(tables, /C.*E.*O.*R.*T.*V.*W.*X.*Y/);
  t.same(empty, []);
});
