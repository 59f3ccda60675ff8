import { check, must } from '../case.js';
import { FAR_FUTURE, type GatherdCase, type GatherdContext } from './context.js';
import { receiveInfo } from './object-cases.js';
import { exchange, inSession, surveyed } from './procedures.js';
import { readUpdate, receiveCompressed, receiveUpdate } from './transfer.js';

/** The documented sessions, word for word: section 7. */
export const sessionCases: readonly GatherdCase[] = [
  must('session/notes-1995', 'GATHERD-7.1 GATHERD-1.8', 'gatherd NOTES', {
    title: 'the full copy of the developer notes: HELLO, SEND-UPDATE 0, QUIT, sent at once',
    ...surveyed(async (survey, context) => {
      const wire = await context.connect();
      await wire.send('HELLO client.host.name\nSEND-UPDATE 0\nQUIT\n');
      await wire.expect(0, 'the connection');
      await wire.expect(100, 'HELLO');
      checkSameStream(survey.transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.expect(999, 'QUIT');
    }),
  }),
  must('session/beckett', 'GATHERD-7.2 GATHERD-6.2', 'beckett', {
    title: 'the compressed full copy of the sample client, step by step',
    ...surveyed(async (survey, context) => {
      const wire = await context.session();
      await exchange(wire, 'HELLO client.example.org', 100, 'HELLO');
      await context.set(wire, 'compression');
      checkSameStream(survey.transfer, await receiveCompressed(wire, 0));
      await exchange(wire, 'QUIT', 999);
    }),
  }),
  must('session/roads', 'GATHERD-7.3 GATHERD-2.5 GATHERD-1.4', 'roads', {
    title: 'the ROADS client, which sends no HELLO and leaves without reading the answer to QUIT',
    ...surveyed(async (survey, context) => {
      const wire = await context.session();
      await wire.send('SEND-UPDATE 0\r\n');
      checkSameStream(survey.transfer, await readUpdate(wire, 'SEND-UPDATE 0'));
      await wire.send('QUIT\r\n');
      await wire.close();
      await checkStillServes(context);
    }),
  }),
  must('session/info', 'GATHERD-7.4 GATHERD-3.6', 'beckett', {
    title: 'the description of the sample client: HELLO, INFO, one object, QUIT without waiting for 600',
    ...inSession(async (wire) => {
      await exchange(wire, 'HELLO client.example.org', 100, 'HELLO');
      await receiveInfo(wire);
      await wire.send('QUIT\n');
      let { code } = await wire.status();
      while (code === 600 || code === 699) ({ code } = await wire.status());
      check(code === 999, 'wrong answer to QUIT', { expected: '999 - ...', received: `${code} - ...` });
    }),
  }),
];

/** Checks that two streams are equal. @throws Mismatch if they differ in a byte */
export function checkSameStream(
  expected: { readonly digest: string; readonly objects: number },
  received: { readonly digest: string; readonly objects: number },
): void {
  check(expected.digest === received.digest, 'not the stream of the first full transfer', {
    expected: `${expected.objects} objects, SHA-256 ${expected.digest}`,
    received: `${received.objects} objects, SHA-256 ${received.digest}`,
  });
}

/** Checks that the server answers a new session. */
export async function checkStillServes(context: GatherdContext): Promise<void> {
  const wire = await context.session();
  await receiveUpdate(wire, FAR_FUTURE);
}
