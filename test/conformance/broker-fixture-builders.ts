// Builds mutants of what a Broker sends of the fixture.
import type { BrokerMutant } from './broker-builders.js';
import { type Item, objectsOf } from './broker-link.js';

/** The parts of a `127` or `124`: what stands before the count, and the counted bytes. */
export interface Counted {
  readonly head: string;
  readonly value: string;
}

function readCounted(text: string): Counted | undefined {
  const end = text.indexOf('\n');
  const head = /^(.* )\d+$/.exec(text.slice(0, end))?.[1];
  return head === undefined ? undefined : { head, value: text.slice(end + 1, -1) };
}

/** Writes an item again, with this count. */
export const written = ({ head, value }: Counted, count = value.length) => `${head}${count}\n${value}\n`;

/** A mutant that changes the values of items with this code; undefined: the item is lost. */
export function valueMutant(
  code: '124' | '127',
  name: string,
  edit: (counted: Counted, item: Item, before: readonly Item[]) => string | undefined,
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule: code === '124' ? 'BRK-4.5' : 'BRK-4.6',
    change: {
      item: (item, at, items) => {
        const counted = item.code === code ? readCounted(item.text) : undefined;
        return counted === undefined ? item.text : (edit(counted, item, items.slice(0, at)) ?? '');
      },
    },
    fails,
  };
}

/** A mutant that changes each item with this code in replies to messages that match. */
export function itemMutant(
  name: string,
  rule: string,
  code: string,
  edit: (text: string, before: readonly Item[], message: string) => string,
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule,
    change: {
      item: (item, at, items, message) =>
        item.code === code ? edit(item.text, items.slice(0, at), message) : item.text,
    },
    fails,
  };
}

/** A mutant that changes the objects of replies to messages that match; the other items stay. */
export function objectMutant(
  name: string,
  rule: string,
  edit: (objects: readonly string[], message: string) => readonly string[],
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule,
    change: {
      reply: (reply, message) => {
        const groups = objectsOf(reply);
        const isObject = (group: string) => group.startsWith('120 - ');
        const objects = groups.filter(isObject);
        return [...groups.filter((group) => !isObject(group)), ...edit(objects, message)].join('');
      },
    },
    fails,
  };
}
