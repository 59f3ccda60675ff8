// Cases about the robustness of a Broker that serves bulk transfers.
import { setTimeout } from 'node:timers/promises';
import { must, should } from '../case.js';
import { type BulkCase, EVERYTHING, surveyed } from './context.js';
import { checkSameCount } from './selection-cases.js';
import { readTransfer, requireTransfer } from './transfer.js';

const TOGETHER = 5;
/** Time that a slow reader waits before it reads. */
const PAUSE_MS = 300;

/** Robustness of a Broker that serves bulk transfers. */
export const enduranceCases: readonly BulkCase[] = [
  must('endurance/slow-reader', 'BT-12 BT-19', 'project choice', {
    title: 'a client that reads late gets everything',
    ...surveyed(async ({ transfer }, context) => {
      const wire = await context.session();
      await wire.send(`${EVERYTHING}\r\n`);
      await setTimeout(PAUSE_MS, undefined, { signal: context.signal });
      checkSameCount(transfer, requireTransfer(await readTransfer(wire), EVERYTHING));
    }),
  }),
  should('endurance/together', 'BT-1 BT-3', 'project choice', {
    title: `${TOGETHER} concurrent clients get everything`,
    ...surveyed(async ({ transfer }, context) => {
      const wires = await Promise.all(Array.from({ length: TOGETHER }, () => context.session(false)));
      const transfers = await Promise.all(
        wires.map(async (wire) => {
          await wire.send(`${EVERYTHING}\r\n`);
          return readTransfer(wire);
        }),
      );
      for (const one of transfers) checkSameCount(transfer, requireTransfer(one, EVERYTHING));
    }),
  }),
  must('endurance/does-not-read', 'BT-12', 'project choice', {
    title: 'a client that requests everything and does not read, or leaves, does not delay others',
    ...surveyed(async ({ transfer }, context) => {
      await (await context.session(false)).send(`${EVERYTHING}\r\n`);
      const leaving = await context.session(false);
      await leaving.send(`${EVERYTHING}\r\n`);
      leaving.reset();
      await context.session(false);
      checkSameCount(transfer, requireTransfer(await context.ask(EVERYTHING), EVERYTHING));
    }),
  }),
];
