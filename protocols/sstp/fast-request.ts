// The fast path for link requests in the usual form.
import { asciiBytes, bufferOf, CR, LF, NINE, SP, ZERO } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import { formatStartLine } from './codec.js';
import type { SstpLimits } from './message.js';
import { CODES, HEADERS, MAX_U32, START_RESULTS_BASE } from './registry.js';
import {
  isSiteKind,
  kindOfCode,
  type LinkKind,
  type LinkRequest,
  MAX_URL_BYTES,
  requestedName,
} from './requests.js';

/** The start line of a link request as a sender writes it (S-28), and the headers that are parameters of it. */
interface Form {
  readonly kind: LinkKind;
  readonly line: Uint8Array;
  readonly id: Uint8Array;
}

const FORMS: readonly Form[] = [
  CODES.references,
  CODES.referers,
  CODES.siteReferences,
  CODES.siteReferers,
].map(({ number }) => {
  const kind = kindOfCode(number)!;
  const id = isSiteKind(kind) ? HEADERS.serverId : HEADERS.uriId;
  return { kind, line: asciiBytes(`${formatStartLine(number)}\r\n`), id: asciiBytes(`${id.name}: `) };
});

const URL_HEADER = asciiBytes(`${HEADERS.url.name}: `);
const COUNT = asciiBytes(`${HEADERS.numResults.name}: `);
const START = asciiBytes(`${HEADERS.startResults.name}: `);
const GENERATION = asciiBytes(`${HEADERS.generation.name}: `);
/** Offset of the last digit of the code, in which the link requests differ. */
const CODE_DIGIT_OFFSET = FORMS[0]!.line.indexOf(SP) + 3;

/** Whether the limits allow everything that the fast path accepts without checking its length. */
export function fitsFastRequests(limits: SstpLimits): boolean {
  return (
    limits.maxStartLineBytes >= 64 &&
    limits.maxHeaderLineBytes >= MAX_URL_BYTES + 64 &&
    limits.maxHeaderBytes >= MAX_URL_BYTES + 512 &&
    limits.maxHeaderLines >= 5
  );
}

/**
 * Reads link requests directly from the octets, if they are complete and in the exact form that a sender
 * writes: start line with the symbol, registered headers in capitals, each once, numbers of at most ten digits,
 * CR LF. Everything else, including every error, is left to the decoder that accepts all forms, so both accept
 * the same requests.
 *
 * The result is in the parser's fields, so that reading allocates only the request.
 */
export class FastRequestParser {
  /** The last request that was read. */
  request: LinkRequest | undefined;
  /** Index after its last octet. */
  end = 0;
  /** Index of the next octet of the request that is being read. */
  #position = 0;

  /** @returns whether a request that begins at `from` was read */
  read(bytes: Uint8Array, from: number): boolean {
    const digit = bytes[from + CODE_DIGIT_OFFSET];
    let form: Form | undefined;
    for (const candidate of FORMS) if (candidate.line[CODE_DIGIT_OFFSET] === digit) form = candidate;
    if (form === undefined || !matches(bytes, from, form.line)) return false;
    this.#position = from + form.line.length;
    let id = -1;
    let count = -1;
    let start = -1;
    let generation = -1;
    let urlFrom = -1;
    let urlEnd = -1;
    while (bytes[this.#position] !== CR) {
      const line = this.#position;
      if (id < 0 && matches(bytes, line, form.id)) {
        id = this.#readNumber(bytes, line + form.id.length);
        if (id < 0) return false;
      } else if (count < 0 && matches(bytes, line, COUNT)) {
        count = this.#readNumber(bytes, line + COUNT.length);
        if (count < 0) return false;
      } else if (start < 0 && matches(bytes, line, START)) {
        start = this.#readNumber(bytes, line + START.length);
        if (start < 0) return false;
      } else if (urlFrom < 0 && matches(bytes, line, URL_HEADER)) {
        urlFrom = line + URL_HEADER.length;
        urlEnd = endOfPlainText(bytes, urlFrom);
        if (urlEnd < 0) return false;
        this.#position = urlEnd + 2;
      } else if (generation < 0 && matches(bytes, line, GENERATION)) {
        generation = this.#readNumber(bytes, line + GENERATION.length);
        if (generation < 0) return false;
      } else return false;
    }
    if (bytes[this.#position + 1] !== LF) return false;
    const end = this.#position + 2;
    let name = '';
    if (id <= 0) {
      if (urlFrom < 0) return false;
      const known = parseName(form.kind, bufferOf(bytes).toString('latin1', urlFrom, urlEnd));
      if (known === undefined) return false;
      name = known;
    }
    this.request = {
      kind: form.kind,
      id: Math.max(0, id),
      name,
      start: start < 0 ? 0 : Math.max(0, start - START_RESULTS_BASE),
      count: count < 0 ? undefined : count,
    };
    if (generation >= 0) this.request = { ...this.request, generation: true };
    this.end = end;
    return true;
  }

  /** Reads digits and CR LF and moves the position after them. @returns -1 for anything else */
  #readNumber(bytes: Uint8Array, from: number): number {
    let at = from;
    let value = 0;
    let octet = bytes[at];
    while (octet !== undefined && octet >= ZERO && octet <= NINE) {
      value = value * 10 + (octet - ZERO);
      octet = bytes[++at];
    }
    if (at === from || at - from > 10 || value > MAX_U32) return -1;
    if (octet !== CR || bytes[at + 1] !== LF) return -1;
    this.#position = at + 2;
    return value;
  }
}

/**
 * Whether the octets at `at` are `expected`. Compares the last but one first, where names of different lengths
 * differ.
 */
function matches(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  const length = expected.length;
  if (bytes[at + length - 2] !== expected[length - 2]) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/**
 * The index of the CR LF after printable ASCII without blanks; -1 for anything else, or a text that is too
 * long.
 */
function endOfPlainText(bytes: Uint8Array, from: number): number {
  let at = from;
  let octet = bytes[at];
  while (octet !== undefined && octet > SP && octet < 0x7f) octet = bytes[++at];
  if (at === from || at - from > MAX_URL_BYTES) return -1;
  return octet === CR && bytes[at + 1] === LF ? at : -1;
}

function parseName(kind: LinkKind, url: string): string | undefined {
  try {
    return requestedName(kind, url);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined; // the other decoder throws it, with the offset
    throw error;
  }
}
