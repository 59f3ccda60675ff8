// Assigns URIs to queues, by one of several policies (CRAWL-9.1 to 9.9).
import { ConsistentHash } from './consistent-hash.js';
import { elfHash } from './fingerprint.js';
import { hostOf, hostOfDns } from './parse-url.js';
import { surt } from './surt.js';

/** CRAWL-9: the policies that assign URIs to queues. `host` is the default (CRAWL-21). */
export const QUEUE_POLICIES = [
  'host',
  'host-limits',
  'surt',
  'topmost',
  'limits',
  'ip',
  'bucket',
  'elf',
] as const;

export type QueuePolicy = (typeof QUEUE_POLICIES)[number];

export interface QueueAssignmentOptions {
  /** Default `host`. */
  readonly policy?: QueuePolicy;
  /** CRAWL-9.4, `topmost`: default {@link PublicSuffixes.HEURISTIC}. */
  readonly publicSuffixes?: PublicSuffixes;
  /**
   * CRAWL-9.4, `limits` and `host-limits`: labels of the host to keep, from the topmost; -1 keeps all. Default
   * -1.
   */
  readonly labels?: number;
  /**
   * CRAWL-9.5, 9.6, `ip` and `bucket`: the address of a host as 4 or 16 bytes; `undefined` while it is unknown.
   */
  readonly addressOf?: ((host: string) => Uint8Array | undefined) | undefined;
  /** CRAWL-9.9, `elf`: the number of queues. Default 100. Politeness is then not guaranteed for each host. */
  readonly elfQueues?: number;
  /** CRAWL-9.7: queues for each key, 1 to 10 000; default 1. */
  readonly parallelQueues?: number;
  /** CRAWL-9.7: spread by the whole URI, not by the first path segment. Default false. */
  readonly spreadWholeUri?: boolean;
  /** CRAWL-9.7: a key that the settings of a URI force; '' for no key. */
  readonly forcedKey?: (uri: string) => string;
}

/** CRAWL-9.1: the queue of a URI. The URIs of a queue share politeness and locking. */
export type QueueAssignment = (subject: ClassKeySubject) => string;

/**
 * Creates a queue assignment policy with the additions of CRAWL-9.7.
 * @throws RangeError when an option is out of its range
 */
export function queueAssignment(options: QueueAssignmentOptions = {}): QueueAssignment {
  const { parallelQueues = 1, spreadWholeUri = false, forcedKey, elfQueues = 100 } = options;
  if (!Number.isInteger(elfQueues) || elfQueues < 1) throw new RangeError('elf queues are at least 1');
  const base = policyKey(options, elfQueues);
  const circle = new ConsistentHash(parallelQueues);
  return (subject) => {
    const forced = forcedKey?.(subject.uri) ?? '';
    // CRAWL-9.7: `whois:` has its own queue.
    const whoisKey = subject.uri.startsWith('whois:') ? 'whois...' : undefined;
    const key = forced !== '' ? forced : (whoisKey ?? base(subject));
    if (parallelQueues === 1) return key;
    const text = spreadWholeUri ? subject.uri : firstSegment(subject.uri);
    const bucket = text === '' ? 0 : circle.bucketOf(text);
    return bucket === 0 ? key : `${key}+${bucket}`;
  };
}

function policyKey(options: QueueAssignmentOptions, elfQueues: number): QueueAssignment {
  const { addressOf = () => undefined, labels = -1, publicSuffixes = PublicSuffixes.HEURISTIC } = options;
  switch (options.policy ?? 'host') {
    case 'host':
      return ({ uri, via }) => classKey(uri, via);
    case 'surt':
      return surtKey;
    case 'topmost':
      return (subject) => topmostKey(surtKey(subject), publicSuffixes);
    case 'limits':
      return (subject) => limitedKey(surtKey(subject), labels);
    case 'host-limits':
      return ({ uri, via }) => limitedHostKey(classKey(uri, via), labels);
    case 'ip':
      return ({ uri, via }) => {
        const address = addressOf(hostOf(uri));
        return address === undefined ? classKey(uri, via) : formatAddress(address);
      };
    case 'bucket':
      return ({ uri }) => bucketKey(hostOf(uri), addressOf);
    case 'elf':
      return ({ uri }) => String(elfHash(uri) % elfQueues);
  }
}

/** CRAWL-9.3: http and https of a host share a queue; user information is part of the key. */
export function surtKey({ uri, via }: ClassKeySubject): string {
  let basis = uri;
  if (uri.startsWith('dns:')) {
    basis = via !== undefined && !via.startsWith('dns:') ? via : `http://${hostOfDns(uri)}`;
  }
  const form = surt(basis);
  const from = form.indexOf('://(');
  if (from < 0) return NO_AUTHORITY;
  const to = form.indexOf(')', from);
  const key = form.slice(from + 4, to < 0 ? form.length : to);
  return key === '' ? NO_AUTHORITY : key.replaceAll(':', '#');
}

/** CRAWL-9.4: cuts a SURT key to the public suffix plus one label; an address or a key without labels stays. */
export function topmostKey(key: string, suffixes: PublicSuffixes = PublicSuffixes.HEURISTIC): string {
  const labels = labelsOf(key);
  if (labels.length === 0) return key;
  const kept = suffixes.assignedLabels([...labels].reverse());
  return labels
    .slice(0, kept)
    .map((label) => `${label},`)
    .join('');
}

/** CRAWL-9.4 with-limits: the first `count` labels of a SURT key and its port; -1 keeps all. */
function limitedKey(key: string, count: number): string {
  const labels = labelsOf(key);
  if (count < 0 || labels.length <= count) return key;
  const kept = labels.slice(0, count).map((label) => `${label},`);
  return kept.join('') + portOf(key);
}

/** The same for a host name key: `www.example.com#8080` gives `example.com#8080`. An address is not cut. */
function limitedHostKey(key: string, count: number): string {
  const port = portOf(key);
  const labels = key.slice(0, key.length - port.length).split('.');
  const isAddress = key.startsWith('[') || labels.every((label) => /^\d*$/.test(label));
  return count < 0 || labels.length <= count || isAddress
    ? key
    : labels.slice(labels.length - count).join('.') + port;
}

/** The port of a key with its `#`; '' if it has no port. */
function portOf(key: string): string {
  return /#\d+$/.exec(key)?.[0] ?? '';
}

/** `com,example,www,#8080`: the labels, topmost first. */
function labelsOf(key: string): string[] {
  const last = key.lastIndexOf(',');
  return last < 0 ? [] : key.slice(0, last).split(',');
}

/** CRAWL-9.6: at most 2046 keys, so that all queues fit in memory. */
function bucketKey(host: string, addressOf: (host: string) => Uint8Array | undefined): string {
  if (host === '') return 'NO-HOST';
  const address = addressOf(host);
  if (address === undefined) return `NO-IP-${Math.abs(javaHash(host)) & 1023}`;
  return String(Math.abs(addressHash(address)) % 1021);
}

/**
 * The hash of CRAWL-9.6, that of Java's strings: 31 times the hash so far, plus the code unit, in 32 signed
 * bits.
 */
function javaHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}

/** The hash of an address: its four bytes as a signed number; for 16 bytes the sum of four such numbers. */
function addressHash(address: Uint8Array): number {
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  let hash = 0;
  for (let at = 0; at + 4 <= address.length; at += 4) hash = (hash + view.getInt32(at)) | 0;
  return hash;
}

function formatAddress(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  return Array.from({ length: address.length / 2 }, (_, i) => view.getUint16(2 * i).toString(16)).join('#');
}

/** CRAWL-9.7: the first segment of the path; '' when the path has no second slash. */
function firstSegment(uri: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/([^/?#]*)\//i.exec(uri)?.[1] ?? '';
}

/** Second-level labels under which countries assign names, used without a list. */
const GENERIC_LABELS = new Set(
  'ac co com edu gob go gov gv int ltd me mil ne net nom or org plc sch'.split(' '),
);

/**
 * Finds the assigned part of a host name (CRAWL-9.4): one label more than its public suffix. It uses the Public
 * Suffix List, or without it a heuristic for suffixes such as `co.uk`.
 */
export class PublicSuffixes {
  /** The heuristic: the last label, or the last two when they are a usual category below a country code. */
  static readonly HEURISTIC = new PublicSuffixes(undefined);
  readonly #rules: ReadonlySet<string> | undefined;

  private constructor(rules: ReadonlySet<string> | undefined) {
    this.#rules = rules;
  }

  /**
   * @param text the Public Suffix List: one rule on each line, `//` comments, `*.` for any label, `!` for
   *   exceptions
   */
  static parse(text: string): PublicSuffixes {
    const rules = new Set<string>();
    for (const line of text.split(/\r?\n/)) {
      const rule = line.trim().split(/\s/, 1)[0]!;
      if (rule === '' || rule.startsWith('//')) continue;
      const url = `http://${rule.replace(/^!|^\*\./, '')}/`;
      if (!URL.canParse(url)) continue;
      rules.add((/^!|^\*\./.exec(rule)?.[0] ?? '') + new URL(url).hostname);
    }
    return new PublicSuffixes(rules);
  }

  /**
   * The number of labels in the assigned part: 2 for `www.example.com`.
   * @param labels of the host, from left to right, in lower case
   */
  assignedLabels(labels: readonly string[]): number {
    return Math.min(labels.length, this.#suffixLabels(labels) + 1);
  }

  #suffixLabels(labels: readonly string[]): number {
    if (this.#rules === undefined) {
      const isCountry = labels.at(-1)?.length === 2;
      return isCountry && labels.length > 1 && GENERIC_LABELS.has(labels.at(-2)!) ? 2 : 1;
    }
    // The longest rule applies; an exception overrides a longer rule.
    for (let from = 0; from < labels.length; from++) {
      const name = labels.slice(from).join('.');
      if (this.#rules.has(`!${name}`)) return labels.length - from - 1;
      if (this.#rules.has(name)) return labels.length - from;
      const above = labels.slice(from + 1).join('.');
      if (above !== '' && this.#rules.has(`*.${above}`)) return labels.length - from;
    }
    return 1;
  }
}

/** The input of a class key. */
export interface ClassKeySubject {
  readonly uri: string;
  /** The URI on which it was found. A `dns:` URI is in the queue of the URI that needs it. */
  readonly via?: string | undefined;
}

/**
 * The class key of a URL by the host name policy (CRAWL-9.2): URLs with the same key share a queue, a delay and
 * a connection. The key is the authority without user information, with port 443 for `https` without a port,
 * and `#` for `:`.
 *
 * @param via for a `dns:` URI: the URI that needs the address
 * @returns `default...` for a URL without an authority (`news:group`) and for a file of this machine
 */
export function classKey(url: string, via?: string): string {
  if (url.startsWith('dns:')) {
    if (via !== undefined && !via.startsWith('dns:')) return classKey(via);
    return hostOfDns(url) || NO_AUTHORITY;
  }
  // A file of this machine.
  if (url.startsWith('file://localhost/')) return NO_AUTHORITY;
  const start = url.indexOf('://');
  if (start < 0) return NO_AUTHORITY;
  let end = start + 3;
  let userInfoEnd = end;
  for (; end < url.length; end++) {
    const c = url.charCodeAt(end);
    if (c === SLASH || c === QUESTION_MARK) break;
    if (c === AT_SIGN) userInfoEnd = end + 1;
  }
  const authority = url.slice(userInfoEnd, end);
  if (authority === '') return NO_AUTHORITY;
  const key = url.startsWith('https:') && !/:\d+$/.test(authority) ? `${authority}:443` : authority;
  return key.includes(':') ? key.replaceAll(':', '#') : key;
}

const NO_AUTHORITY = 'default...';
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const AT_SIGN = 0x40;
