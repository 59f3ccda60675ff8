// The Registry file of the original Broker after every crash: with `sync`, each change whose promise had
// resolved is there, and the file opens for writing by itself; an export is whole, or the former one is.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif } from '../../protocols/soif/index.js';
import { objectFilePath, RegistryFile, registryPath } from '../../storage/original-registry/index.js';
import { examineCrashes } from '../disk/examine.js';
import { lastMark } from '../disk/marks.js';
import type { CrashState } from '../disk/states.js';
import { collect } from '../storage/helpers.js';
import { recordOf } from '../storage/original-registry/helpers.js';

/** The OIDs of the valid records with their URLs. */
async function validRecords(registry: RegistryFile): Promise<Map<number, string>> {
  const located = await collect(registry.records());
  return new Map(
    located.flatMap(({ state, record }) =>
      state === 'valid' && record !== undefined ? [[record.oid, Buffer.from(record.url).toString()]] : [],
    ),
  );
}

function checkRecords(valid: ReadonlyMap<number, string>, { marks }: CrashState): void {
  const oids = (kind: string): number[] =>
    marks.flatMap((mark) => (mark.startsWith(`${kind} `) ? [Number(mark.split(' ')[1])] : []));
  const [deleting, gone] = [new Set(oids('deleting')), new Set(oids('gone'))];
  for (const oid of oids('has')) {
    if (oid > 0 && !deleting.has(oid) && !valid.has(oid)) throw new Error(`record ${oid} is lost`);
    if (gone.has(oid) && valid.has(oid)) throw new Error(`record ${oid} was deleted and is back`);
  }
  for (const [oid, url] of valid) {
    if (url !== `http://a/${oid}`) throw new Error(`record ${oid} has the URL ${url}`);
  }
}

t.test('REG-29: after every crash the Registry opens for writing with what was acknowledged', (t) =>
  examineCrashes(t, {
    program: 'registry-file',
    mixes: 'ordered',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      const path = join(directory, 'Registry');
      if (!existsSync(path)) {
        if (state.marks.length > 0) throw new Error('the Registry is lost');
        return;
      }
      let next: number;
      {
        await using registry = await RegistryFile.open(path, { writable: true });
        checkRecords(await validRecords(registry), state);
        next = registry.nextOid;
        await registry.append([recordOf(next)]);
      }
      await using registry = await RegistryFile.open(path, { writable: true });
      const valid = await validRecords(registry);
      checkRecords(valid, state);
      if (!valid.has(next)) throw new Error('a record that was appended after the crash is lost');
      if (registry.problems.length > 0) throw new Error(`not repaired: ${registry.problems[0]?.message}`);
    },
  }),
);

t.test('REG-37: after every crash an exported Registry names only whole object files', (t) =>
  examineCrashes(t, {
    program: 'registry-export',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      const place = join(directory, 'broker', 'original');
      const path = registryPath(place);
      if (!existsSync(path)) {
        if (state.marks.length > 0) throw new Error('the exported Registry is lost');
        return;
      }
      await using registry = await RegistryFile.open(path);
      if (registry.problems.length > 0) throw new Error(registry.problems[0]?.message ?? '');
      const valid = await validRecords(registry);
      if (valid.size < lastMark(state, 'exported') - 4) throw new Error(`only ${valid.size} records`);
      for (const [oid, url] of valid) {
        const object = decodeSoif(await readFile(objectFilePath(place, oid)), { mode: 'strict' });
        if (object.url !== url) throw new Error(`object ${oid} is ${object.url} instead of ${url}`);
      }
    },
  }),
);
