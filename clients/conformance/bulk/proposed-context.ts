// Requests in the interface of 1995, of a Broker that knows it (BP-29).
import { Mismatch, NotApplicable, type Procedure } from '../case.js';
import { type BulkContext, surveyed } from './context.js';
import { isProposed, type ProposedReply, readProposed } from './proposed-reader.js';
import { formatTransfer, type GroupFacts, type OnObject, readTransfer } from './transfer.js';

/** The request for everything in the interface of 1995. */
export const PROPOSED_EVERYTHING = '#BULK #SINCE 0 #interface 2 #END #ALLB';

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
  if (shared.proposed === undefined && message !== PROPOSED_EVERYTHING) {
    const wire = await context.session();
    await wire.send(`${PROPOSED_EVERYTHING}\r\n`);
    shared.proposed = await isProposed(wire);
    await wire.close();
  }
  const what = 'the broker does not know #interface 2';
  if (shared.proposed === false) throw new NotApplicable(what);
  const wire = await context.session();
  await wire.send(`${message}\r\n`);
  const knows = await isProposed(wire);
  const isFirst = shared.proposed === undefined;
  shared.proposed ??= knows;
  if (knows) return readProposed(wire, onObject);
  const received = formatTransfer(await readTransfer(wire));
  if (isFirst) throw new NotApplicable(`${what}: ${received}`);
  throw new Mismatch(`answered in the shipped format: ${message}`, {
    expected: '200 - and the Version of interface 2',
    received,
  });
}
