// A message of SSTP: its form and its limits.
import { HEADERS } from './registry.js';
/** A header to send or as received; received names are in capitals (S-31). */
export type SstpHeader = readonly [name: string, value: string];

/** The abstract message (section S4 of the specification): the only form that the layers above the codec see (S-22). */
export interface SstpMessage {
  /** 0..999 */
  readonly code: number;
  /** In the order of the wire; the order of equal names matters (S-21). */
  readonly headers: readonly SstpHeader[];
  /** Empty unless a code defines one. */
  readonly body: Uint8Array;
}

export const NO_BODY = new Uint8Array(0);

/**
 * A reply whose run of `HEADER_URI_ID` lines was read directly as numbers. It is still the abstract message:
 * {@link headers} builds all headers in the order of the wire on demand.
 */
export class IdListMessage implements SstpMessage {
  readonly #runAt: number;

  /**
   * @param others the headers outside the run
   * @param runAt how many of `others` precede the run
   */
  constructor(
    readonly code: number,
    readonly others: readonly SstpHeader[],
    readonly ids: Uint32Array,
    runAt: number,
    readonly body: Uint8Array = NO_BODY,
  ) {
    this.#runAt = runAt;
  }

  get headers(): readonly SstpHeader[] {
    const run = Array.from(this.ids, (id): SstpHeader => [HEADERS.uriId.name, String(id)]);
    return [...this.others.slice(0, this.#runAt), ...run, ...this.others.slice(this.#runAt)];
  }
}

/** Limits of a decoder (S-38). The octets of a line are counted without its end. */
export interface SstpLimits {
  readonly maxStartLineBytes: number;
  readonly maxHeaderLineBytes: number;
  /** All header lines of a message, their ends included. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
  readonly maxBodyBytes: number;
}

/** S-38. No request of a References Server has a body; other bodies are skipped. */
export const REQUEST_LIMITS: SstpLimits = {
  maxStartLineBytes: 256,
  maxHeaderLineBytes: 8192,
  maxHeaderBytes: 65_536,
  maxHeaderLines: 64,
  maxBodyBytes: 65_536,
};

/** S-38: a client accepts at least 100 000 header lines; the body is that of a configuration list. */
export const REPLY_LIMITS: SstpLimits = {
  maxStartLineBytes: 256,
  maxHeaderLineBytes: 8192,
  maxHeaderBytes: 32 * 1024 * 1024,
  maxHeaderLines: 1_000_000,
  maxBodyBytes: 1_048_576,
};
