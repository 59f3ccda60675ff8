// Cases about the robustness of a gatherd (GATHERD sections 7.3 and 12).
import { must, should } from '../case.js';
import { FAR_FUTURE, type GatherdCase } from './context.js';
import { exchange, inSession, surveyed, TRANSFER_MS } from './procedures.js';
import { checkSameStream, checkStillServes } from './session-cases.js';
import { readUpdate, receiveUpdate } from './transfer.js';

/** GATHERD-12.4. */
const SESSIONS = 32;
/** Bytes requested by a client that does not read: more than the buffers of a connection hold. */
const UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_UPDATES = 64;

/** Robustness: sections 7.3 and 12. */
export const enduranceCases: readonly GatherdCase[] = [
  should('endurance/sessions', 'GATHERD-12.4', 'project choice', {
    title: `${SESSIONS} concurrent sessions, each answered`,
    async run(context) {
      context.transcript.note(`${SESSIONS} connections, then an update of nothing on each`);
      const wires = await Promise.all(Array.from({ length: SESSIONS }, () => context.session(false)));
      for (const wire of wires) await receiveUpdate(wire, FAR_FUTURE);
    },
  }),
  must('endurance/close-inside-data', 'GATHERD-7.3', 'roads', {
    title: 'a client that closes inside the data does not harm others',
    timeoutMs: TRANSFER_MS,
    ...inSession(async (wire, context) => {
      await exchange(wire, 'SEND-UPDATE 0', 400);
      await wire.close();
      await checkStillServes(context);
    }),
  }),
  must('endurance/reset-inside-data', 'GATHERD-7.3', 'roads', {
    title: 'a client that resets the connection inside the data does not harm others',
    timeoutMs: TRANSFER_MS,
    ...inSession(async (wire, context) => {
      await wire.send('SEND-UPDATE 0\nSEND-UPDATE 0\nSEND-UPDATE 0\n');
      await wire.expect(400, 'SEND-UPDATE 0');
      wire.reset();
      await checkStillServes(context);
    }),
  }),
  must('endurance/half-command', 'GATHERD-7.3 GATHERD-1.4', 'roads', {
    title: 'a client that leaves inside a command does not harm others',
    ...inSession(async (wire, context) => {
      await wire.send('SEND-UPDA');
      await wire.close();
      await checkStillServes(context);
    }),
  }),
  should('endurance/half-close', 'GATHERD-1.8 GATHERD-7.1', 'inferred: gatherd NOTES', {
    title: 'a client that closes its own direction after its commands gets all answers',
    ...surveyed(async ({ transfer }, context) => {
      const wire = await context.session();
      await wire.send('HELLO client.host.name\nSEND-UPDATE 0\nQUIT\n');
      wire.endInput();
      await wire.expect(100, 'HELLO');
      checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.expect(999, 'QUIT');
    }),
  }),
  should('endurance/does-not-read', 'GATHERD-12.4 GATHERD-12.3', 'project choice', {
    title: 'a client that does not read does not delay others, and gets everything when it reads',
    ...surveyed(async ({ transfer }, context) => {
      const updates = Math.min(MAX_UNREAD_UPDATES, Math.ceil(UNREAD_BYTES / Math.max(1, transfer.bytes)));
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\n'.repeat(updates));
      await checkStillServes(context);
      for (let update = 0; update < updates; update++) {
        checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      }
    }),
  }),
];
