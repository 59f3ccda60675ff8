import { type SentText, urlOf } from '../broker-bench.js';

/*
 * Builds the replies that the suite sends to a client under test: transfers as Brokers ship them (BT-15 to
 * BT-21) and in the interface of 1995 (BP-1 to BP-22).
 */

/**
 * The texts of a transfer that a client may show. Every text is one plain word or URL, so that it is found in
 * any output.
 */
export type Kind = 'update' | 'refresh' | 'delete' | 'value';

export const SUCCESS = '000 - Bulk transfer follows\n';
/** Starts each value (BP-3). */
const MAGIC = '\x32\x9f\xa1\xd2';

/** An object in the layout of BT-16: the given attributes, then those that identify it (BT-21). */
export function object(
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  type = 'FILE',
): string {
  const all = {
    ...attributes,
    'Update-Time': '1700000000',
    'Time-to-Live': '2000000000',
    'Gatherer-Name': 'Example',
    'Gatherer-Host': 'gatherer.example.org',
    'Gatherer-Version': '1.8',
  };
  const lines = Object.entries(all).map(([key, value]) => `${key}{${value.length}}:\t${value}\n`);
  return `@${type} { ${urlOf(name)}\n${lines.join('')}}\n`;
}

/** An object whose title is derived from its name. */
export function full(name: string): string {
  return object(name, { Title: `${name}title` });
}

/** A group as BT-17 writes it. */
export function group(word: 'DELETE' | 'REFRESH' | 'UPDATE', objects = ''): string {
  return `@${word} {\n${objects}}\n${word === 'UPDATE' ? '' : '\n'}`;
}

/** The three groups, two of them empty. */
export function updates(objects: string): string {
  return group('DELETE') + group('REFRESH') + group('UPDATE', objects);
}

/** The texts that a client shows of {@link full} objects in an UPDATE group. */
export function updated(...names: readonly string[]): SentText<Kind>[] {
  return names.flatMap((name): SentText<Kind>[] => [
    { kind: 'update', text: urlOf(name) },
    { kind: 'value', text: `${name}title` },
  ]);
}

/** A number of the 1995 interface: four bytes, big-endian (BP-1). */
export function number(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
}

/** A value with its length (BP-4). */
export function data(value: string): string {
  return MAGIC + number(value.length) + value;
}

/** The reply to the version request (BP-11). */
export function version(major = 1, minor = 0): string {
  return `200 - ${number(major)}${number(minor)}example broker\n`;
}

/** The number of objects that follow (BP-22). */
export function count(objects: number): string {
  return `144 - ${number(objects)}`;
}
