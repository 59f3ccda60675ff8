// Reads the replies of the kit's own Broker item by item, so that a mutant can change one of them.
import type { Link, Sent, Weakness } from './proxy.js';

/** An item of a reply: its line, and the counted bytes after it, all with their LF. */
export interface Item {
  readonly code: string;
  readonly text: string;
}

/** Changes of a Broker. */
export interface BrokerChange {
  /** Changes the message of the client, with its line end, before the Broker reads it. */
  message?(text: string): string;
  /** Changes the received bytes as they come. */
  chunk?(text: string): string;
  greeting?(line: string): string | Sent;
  /** Changes an item of a reply. */
  item?(item: Item, at: number, items: readonly Item[], message: string): string;
  /** Changes a whole reply. @param rest what the client has sent after the message */
  reply?(reply: string, message: string, rest: string): string | Sent;
  readonly staysOpen?: boolean;
  readonly weakness?: Weakness;
}

/** A message that is longer than this is passed on in pieces: what a Broker must understand, with its CR. */
const MAX_MESSAGE = 65_537;

/** Returns the items of a reply. */
function itemsOf(reply: string): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < reply.length; ) {
    let end = reply.indexOf('\n', at) + 1;
    if (end === 0) end = reply.length;
    const line = reply.slice(at, end);
    const code = line.slice(0, 3);
    const count = code === '124' || code === '127' ? /(\d+)\n$/.exec(line)?.[1] : undefined;
    if (count !== undefined) end += Number(count) + 1;
    items.push({ code, text: reply.slice(at, end) });
    at = end;
  }
  return items;
}

/** Returns the items of a reply, grouped: one array for each object, one for each other item. */
export function objectsOf(reply: string): string[] {
  const groups: string[] = [];
  let isOpen = false;
  for (const { code, text } of itemsOf(reply)) {
    if (isOpen) groups.push((groups.pop() ?? '') + text);
    else groups.push(text);
    if (code === '120') isOpen = true;
    if (code === '130') isOpen = false;
  }
  return groups;
}

/**
 * Returns the offset after a message, which ends at an LF outside of quotes; undefined if it is not complete.
 */
function endOfMessage(input: string): number | undefined {
  let isQuoted = false;
  for (let at = 0; at < input.length; at++) {
    if (isQuoted && input[at] === '\\') at++;
    else if (input[at] === '"') isQuoted = !isQuoted;
    else if (input[at] === '\n' && !isQuoted && input.slice(0, at).trim() !== '') return at + 1;
  }
  return undefined;
}

/** Returns the link of one connection of a Broker with this change. */
export function brokerLink(change: BrokerChange): Link {
  let input = '';
  let isPassed = false;
  let message = '';
  let rest = '';
  let output = '';
  let isGreeted = false;
  const forward = (text: string): string => {
    isPassed = true;
    message = text;
    return change.message?.(text) ?? text;
  };
  return {
    staysOpen: change.staysOpen === true,
    fromClient(chunk, ended) {
      const text = change.chunk?.(chunk) ?? chunk;
      if (isPassed) {
        rest += text;
        return text;
      }
      input += text;
      const end = endOfMessage(input);
      if (end !== undefined) {
        rest = input.slice(end);
        return forward(input.slice(0, end)) + rest;
      }
      if (ended || input.length > MAX_MESSAGE) return forward(input);
      return '';
    },
    fromServer(chunk, ended) {
      output += chunk;
      let greeting = '';
      const end = output.indexOf('\n') + 1;
      if (!isGreeted && end > 0) {
        isGreeted = true;
        const line = output.slice(0, end);
        output = output.slice(end);
        const sent = change.greeting?.(line) ?? line;
        if (typeof sent !== 'string') return sent;
        greeting = sent;
      }
      if (!ended) return greeting;
      const items = itemsOf(output);
      const { item } = change;
      const edited =
        item === undefined ? output : items.map((one, at) => item(one, at, items, message)).join('');
      const sent = change.reply?.(edited, message, rest) ?? edited;
      return typeof sent === 'string' ? greeting + sent : { ...sent, text: greeting + sent.text };
    },
  };
}
