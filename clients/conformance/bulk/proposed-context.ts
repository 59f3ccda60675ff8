// Requests in the interface of 1995, of a Broker that knows it (BP-29).
import { checkNone, Mismatch, NotApplicable, type Procedure } from '../case.js';
import type { Wire } from '../wire.js';
import { type BulkContext, surveyed } from './context.js';
import { isProposed, type ProposedReply, readProposed } from './proposed-reader.js';
import { formatTransfer, type GroupFacts, type OnObject, readTransfer, type Transfer } from './transfer.js';

/** The request for everything in the interface of 1995. */
export const PROPOSED_EVERYTHING = '#BULK #SINCE 0 #interface 2 #END #ALLB';

/** BP-8: codes that a transfer in the shipped format does not have. */
const NEW_CODES = [126, 140, 141, 142, 144, 145, 150];

/** Formats the codes of items, and their numbers. */
export function codesOf(items: ProposedReply['items']): string {
  const shown = items.map(({ code, number }) => (number === undefined ? code : `${code}(${number})`));
  return shown.join(' ') || 'nothing after the Version';
}

/** Sends a message and looks at the reply. @param verify also receives everything in the shipped format */
export function proposed(
  message: string,
  verify: (reply: ProposedReply, all: GroupFacts) => void,
): Procedure<BulkContext> {
  return surveyed(async ({ transfer }, context) => verify(await readReply(context, message), transfer));
}

/**
 * Sends a message and reads the reply. A Broker that has answered one request in this interface must not answer
 * another one in the shipped format.
 * @throws NotApplicable if the Broker does not know this interface; Mismatch if the reply is malformed
 */
export async function readReply(
  context: BulkContext,
  message: string,
  onObject?: OnObject,
): Promise<ProposedReply> {
  const { shared } = context;
  if (shared.proposed === undefined) {
    const wire = await request(context, PROPOSED_EVERYTHING);
    shared.proposed = await isProposed(wire);
    if (!shared.proposed) await readWithoutVersion(wire);
    await wire.close();
  }
  if (!shared.proposed) throw new NotApplicable('the broker does not know #interface 2');
  const wire = await request(context, message);
  if (await isProposed(wire)) return readProposed(wire, onObject);
  throw new Mismatch(`answered in the shipped format: ${message}`, {
    expected: '200 - and the Version of interface 2',
    received: formatTransfer(await readWithoutVersion(wire)),
  });
}

/** Sends a message that requests the shipped format, and reads the reply. @throws Mismatch for a Version */
export async function readShipped(context: BulkContext, message: string): Promise<Transfer> {
  const wire = await request(context, message);
  if (!(await isProposed(wire))) return readTransfer(wire);
  throw new Mismatch(`answered in interface 2: ${message}`, {
    expected: '000 - ..., then @DELETE {',
    received: '200 - and a Version',
  });
}

async function request(context: BulkContext, message: string): Promise<Wire> {
  const wire = await context.session();
  await wire.send(`${message}\r\n`);
  return wire;
}

/** Reads a reply that begins like one in the shipped format. @throws Mismatch for a code of interface 2 in it */
async function readWithoutVersion(wire: Wire): Promise<Transfer> {
  const answer = await readTransfer(wire);
  const code = answer.lines.find((line) => NEW_CODES.includes(line.code))?.code;
  checkNone(
    code,
    'a code of interface 2 without its Version (BP-11)',
    '200 - and the number 1 in four bytes',
  );
  return answer;
}
