// Cases about the robustness of a Broker that serves bulk transfers.
import { setTimeout } from 'node:timers/promises';
import { type BulkCase, EVERYTHING, TRANSFER_MS } from './context.js';
import { checkSameCount } from './selection-cases.js';
import { readTransfer, requireTransfer } from './transfer.js';

const TOGETHER = 5;
/** Time that a slow reader waits before it reads. */
const PAUSE_MS = 300;

/** Robustness of a Broker that serves bulk transfers. */
export const enduranceCases: readonly BulkCase[] = [
  {
    id: 'endurance/slow-reader',
    title: 'a client that reads late gets everything',
    rules: ['BT-12', 'BT-19'],
    source: 'project choice',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wire = await context.session();
      await wire.send(`${EVERYTHING}\r\n`);
      await setTimeout(PAUSE_MS, undefined, { signal: context.signal });
      checkSameCount(transfer, requireTransfer(await readTransfer(wire), EVERYTHING));
    },
  },
  {
    id: 'endurance/together',
    title: `${TOGETHER} concurrent clients get everything`,
    rules: ['BT-1', 'BT-3'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wires = await Promise.all(Array.from({ length: TOGETHER }, () => context.session(false)));
      const transfers = await Promise.all(
        wires.map(async (wire) => {
          await wire.send(`${EVERYTHING}\r\n`);
          return readTransfer(wire);
        }),
      );
      for (const one of transfers) checkSameCount(transfer, requireTransfer(one, EVERYTHING));
    },
  },
  {
    id: 'endurance/does-not-read',
    title: 'a client that requests everything and does not read, or leaves, does not delay others',
    rules: ['BT-12'],
    source: 'project choice',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      await (await context.session(false)).send(`${EVERYTHING}\r\n`);
      const leaving = await context.session(false);
      await leaving.send(`${EVERYTHING}\r\n`);
      leaving.reset();
      await context.session(false);
      checkSameCount(transfer, requireTransfer(await context.ask(EVERYTHING), EVERYTHING));
    },
  },
];
