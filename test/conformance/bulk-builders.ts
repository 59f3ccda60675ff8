// Builds mutants of a Broker's bulk transfers in the shipped format.
import type { BrokerChange } from './broker-link.js';
import { type Mutant, readings } from './mutant.js';
import { attributeNamed } from './soif-text.js';

export type BulkMutant = Mutant<BrokerChange>;

export const MALFORMED = '#BULK nonsense\r\n';
/** Whether the reply is a transfer in the shipped format. */
export const isTransfer = (reply: string) => reply.startsWith('000 - ');
export const isSince = (message: string) => /#since [1-9]/i.test(message);

/** Changes the data of transfers after their `000` line. */
export function dataMutant(
  name: string,
  rule: string,
  edit: (data: string, message: string) => string,
  fails: readonly string[],
): BulkMutant {
  const reply = (text: string, message: string) => {
    if (!isTransfer(text)) return text;
    const start = text.indexOf('\n') + 1;
    return text.slice(0, start) + edit(text.slice(start), message);
  };
  return { name, rule, change: { reply }, fails };
}

export function replyMutant(
  name: string,
  rule: string,
  reply: BrokerChange['reply'],
  fails: readonly string[],
  only?: readonly string[],
): BulkMutant {
  const mutant: BulkMutant = { name, rule, change: reply === undefined ? {} : { reply }, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

export function misreading(
  name: string,
  rule: string,
  pattern: RegExp,
  replacement: string,
  fails: readonly string[],
  only?: readonly string[],
): BulkMutant {
  const mutant: BulkMutant = {
    name,
    rule,
    change: { message: (text) => text.replace(pattern, replacement) },
    fails,
  };
  return only === undefined ? mutant : { ...mutant, only };
}
export const misreadings = readings(misreading);

/** Leaves out an attribute of an object. */
export const without = (name: string) => (object: string) => object.replace(attributeNamed(name), '');

/** A Broker that reads messages otherwise. */
export function rereading(
  name: string,
  rule: string,
  message: (text: string) => string,
  fails: readonly string[],
): BulkMutant {
  return { name, rule, change: { message }, fails };
}
