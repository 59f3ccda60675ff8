// Cases about the robustness of a gatherd (GATHERD sections 7.3 and 12).
import { FAR_FUTURE, type GatherdCase } from './context.js';
import { checkSameStream, checkStillServes } from './session-cases.js';
import { readUpdate, receiveUpdate } from './transfer.js';
import { TRANSFER_MS } from './update-cases.js';

/** GATHERD-12.4. */
const SESSIONS = 32;
/** Bytes requested by a client that does not read: more than the buffers of a connection hold. */
const UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_UPDATES = 64;

/** Robustness: sections 7.3 and 12. */
export const enduranceCases: readonly GatherdCase[] = [
  {
    id: 'endurance/sessions',
    title: `${SESSIONS} concurrent sessions, each answered`,
    rules: ['GATHERD-12.4'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      context.transcript.note(`${SESSIONS} connections, then an update of nothing on each`);
      const wires = await Promise.all(Array.from({ length: SESSIONS }, () => context.session(false)));
      for (const wire of wires) await receiveUpdate(wire, FAR_FUTURE);
    },
  },
  {
    id: 'endurance/close-inside-data',
    title: 'a client that closes inside the data does not harm others',
    rules: ['GATHERD-7.3'],
    source: 'roads',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\n');
      await wire.expect(400, 'SEND-UPDATE 0');
      await wire.close();
      await checkStillServes(context);
    },
  },
  {
    id: 'endurance/reset-inside-data',
    title: 'a client that resets the connection inside the data does not harm others',
    rules: ['GATHERD-7.3'],
    source: 'roads',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\nSEND-UPDATE 0\nSEND-UPDATE 0\n');
      await wire.expect(400, 'SEND-UPDATE 0');
      wire.reset();
      await checkStillServes(context);
    },
  },
  {
    id: 'endurance/half-command',
    title: 'a client that leaves inside a command does not harm others',
    rules: ['GATHERD-7.3', 'GATHERD-1.4'],
    source: 'roads',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('SEND-UPDA');
      await wire.close();
      await checkStillServes(context);
    },
  },
  {
    id: 'endurance/half-close',
    title: 'a client that closes its own direction after its commands gets all answers',
    rules: ['GATHERD-1.8', 'GATHERD-7.1'],
    source: 'inferred: gatherd NOTES',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wire = await context.session();
      await wire.send('HELLO client.host.name\nSEND-UPDATE 0\nQUIT\n');
      wire.endInput();
      await wire.expect(100, 'HELLO');
      checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.expect(999, 'QUIT');
    },
  },
  {
    id: 'endurance/does-not-read',
    title: 'a client that does not read does not delay others, and gets everything when it reads',
    rules: ['GATHERD-12.4', 'GATHERD-12.3'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const updates = Math.min(MAX_UNREAD_UPDATES, Math.ceil(UNREAD_BYTES / Math.max(1, transfer.bytes)));
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\n'.repeat(updates));
      await checkStillServes(context);
      for (let update = 0; update < updates; update++) {
        checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      }
    },
  },
];
