// A seen filter whose log and runs are written, merged and opened again. Argument after the places: its kind.
import { openSeenFilter, SEEN_KINDS, type SeenKind } from '../../../storage/seen/index.js';
import { programArguments } from './acknowledge.js';

const COMMITS = 24;
const { root, control, options } = programArguments();
const kind: SeenKind = SEEN_KINDS.find((name) => name === options[0]) ?? 'memory-set';
for (const half of [0, 1]) {
  await using filter = await openSeenFilter({
    kind,
    directory: root,
    sync: true,
    ...(kind === 'disk-merge' && { pendingKeys: 40 }),
    ...(kind === 'bloom' && { capacity: 2000 }),
  });
  for (let k = (half * COMMITS) / 2 + 1; k <= ((half + 1) * COMMITS) / 2; k++) {
    await filter.add(Array.from({ length: 15 }, (_, i) => `http://site.test/${k}/${i}`));
    if (k > 3) await filter.forget([`http://site.test/${k - 3}/0`]);
    await filter.commit();
    control.mark(`flushed ${k}`);
  }
}
