// A Registry file that grows, loses records and is compressed; each change is flushed.
import { join } from 'node:path';
import { RegistryFile } from '../../../storage/original-registry/index.js';
import { recordOf } from '../../storage/original-registry/helpers.js';
import { programArguments } from './acknowledge.js';

const ROUNDS = 8;
const { root, control } = programArguments();
const path = join(root, 'Registry');
const description = Buffer.from('d'.repeat(300));
{
  await using registry = await RegistryFile.create(path, { sync: true });
  control.mark(`has ${registry.nextOid - 1}`);
}
for (let round = 0; round < ROUNDS; round++) {
  await using registry = await RegistryFile.open(path, { writable: true, sync: true });
  const oid = registry.nextOid;
  const records = [0, 1, 2].map((i) => recordOf(oid + i, { description }));
  const [first = 0, second = 0] = await registry.append(records);
  for (const record of records) control.mark(`has ${record.oid}`);
  control.mark(`deleting ${oid}`);
  await registry.markDeleted(first);
  control.mark(`gone ${oid}`);
  control.mark(`deleting ${oid + 1}`);
  await registry.change(second, recordOf(oid + 3));
  control.mark(`gone ${oid + 1}`);
  control.mark(`has ${oid + 3}`);
  if (round % 3 === 2) await registry.compress();
}
