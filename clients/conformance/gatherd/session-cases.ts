// Cases about whole sessions of a gatherd, and about its robustness (GATHERD sections 7 and 12).
import { check, must, should } from '../case.js';
import {
  exchange,
  FAR_FUTURE,
  type GatherdCase,
  type GatherdContext,
  inSession,
  surveyed,
  TRANSFER_MS,
} from './context.js';
import { receiveInfo } from './object-cases.js';
import { checkSameStream } from './stream-check.js';
import { readUpdate, receiveCompressed, receiveUpdate } from './transfer.js';

/** The documented sessions, word for word: section 7. */
export const sessionCases: readonly GatherdCase[] = [
  must('session/notes-1995', 'GATHERD-7.1 GATHERD-1.8', 'gatherd NOTES')
    .title('the full copy of the developer notes: HELLO, SEND-UPDATE 0, QUIT, sent at once')
    .does(surveyed, async (survey, context) => {
      const wire = await context.connect();
      await wire.send('HELLO client.host.name\nSEND-UPDATE 0\nQUIT\n');
      await wire.expect(0, 'the connection');
      await wire.expect(100, 'HELLO');
      checkSameStream(survey.transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.expect(999, 'QUIT');
    }),
  must('session/beckett', 'GATHERD-7.2 GATHERD-6.2', 'beckett')
    .title('the compressed full copy of the sample client, step by step')
    .does(surveyed, async (survey, context) => {
      const wire = await context.session();
      await exchange(wire, 'HELLO client.example.org', 100, 'HELLO');
      await context.set(wire, 'compression');
      checkSameStream(survey.transfer, await receiveCompressed(wire, 0));
      await exchange(wire, 'QUIT', 999);
    }),
  must('session/roads', 'GATHERD-7.3 GATHERD-2.5 GATHERD-1.4', 'roads')
    .title('the ROADS client, which sends no HELLO and leaves without reading the answer to QUIT')
    .does(surveyed, async (survey, context) => {
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\r\n');
      checkSameStream(survey.transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.send('QUIT\r\n');
      await wire.close();
      await checkStillServes(context);
    }),
  must('session/info', 'GATHERD-7.4 GATHERD-3.6', 'beckett')
    .title('the description of the sample client: HELLO, INFO, one object, QUIT without waiting for 600')
    .does(inSession, async (wire) => {
      await exchange(wire, 'HELLO client.example.org', 100, 'HELLO');
      await receiveInfo(wire);
      await wire.send('QUIT\n');
      let { code } = await wire.status();
      while (code === 600 || code === 699) ({ code } = await wire.status());
      check(code === 999, 'wrong answer to QUIT', { expected: '999 - ...', received: `${code} - ...` });
    }),
];

/** GATHERD-12.4. */
const SESSIONS = 32;
/** Bytes requested by a client that does not read: more than the buffers of a connection hold. */
const UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_UPDATES = 64;

/** Robustness: sections 7.3 and 12. */
export const enduranceCases: readonly GatherdCase[] = [
  should('endurance/sessions', 'GATHERD-12.4', 'project choice')
    .title(`${SESSIONS} concurrent sessions, each answered`)
    .run(async (context) => {
      context.transcript.note(`${SESSIONS} connections, then an update of nothing on each`);
      const wires = await Promise.all(Array.from({ length: SESSIONS }, () => context.session(false)));
      for (const wire of wires) await receiveUpdate(wire, FAR_FUTURE);
    }),
  must('endurance/close-inside-data', 'GATHERD-7.3', 'roads')
    .title('a client that closes inside the data does not harm others')
    .within(TRANSFER_MS)
    .does(inSession, async (wire, context) => {
      await exchange(wire, 'SEND-UPDATE 0', 400);
      await wire.close();
      await checkStillServes(context);
    }),
  must('endurance/reset-inside-data', 'GATHERD-7.3', 'roads')
    .title('a client that resets the connection inside the data does not harm others')
    .within(TRANSFER_MS)
    .does(inSession, async (wire, context) => {
      await wire.send('SEND-UPDATE 0\nSEND-UPDATE 0\nSEND-UPDATE 0\n');
      await wire.expect(400, 'SEND-UPDATE 0');
      wire.reset();
      await checkStillServes(context);
    }),
  must('endurance/half-command', 'GATHERD-7.3 GATHERD-1.4', 'roads')
    .title('a client that leaves inside a command does not harm others')
    .does(inSession, async (wire, context) => {
      await wire.send('SEND-UPDA');
      await wire.close();
      await checkStillServes(context);
    }),
  must('endurance/half-close', 'GATHERD-1.8 GATHERD-7.1', 'inferred: gatherd NOTES')
    .title('a client that closes its own direction after its commands gets all answers')
    .does(surveyed, async ({ transfer }, context) => {
      const wire = await context.session();
      await wire.send('HELLO client.host.name\nSEND-UPDATE 0\nQUIT\n');
      wire.endInput();
      await wire.expect(100, 'HELLO');
      checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.expect(999, 'QUIT');
    }),
  should('endurance/does-not-read', 'GATHERD-12.4 GATHERD-12.3', 'project choice')
    .title('a client that does not read does not delay others, and gets everything when it reads')
    .does(surveyed, async ({ transfer }, context) => {
      const updates = Math.min(MAX_UNREAD_UPDATES, Math.ceil(UNREAD_BYTES / Math.max(1, transfer.bytes)));
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\n'.repeat(updates));
      await checkStillServes(context);
      for (let update = 0; update < updates; update++) {
        checkSameStream(transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      }
    }),
];

/** Checks that the server answers a new session. */
async function checkStillServes(context: GatherdContext): Promise<void> {
  const wire = await context.session();
  await receiveUpdate(wire, FAR_FUTURE);
}
