/** A header to send or as received; received names are in capitals (S-31). */
export type SstpHeader = readonly [name: string, value: string];

/** The abstract message (sstp.md section 4): the only form that the layers above the codec see (S-22). */
export interface SstpMessage {
  /** 0..999 */
  readonly code: number;
  /** In the order of the wire; the order of equal names matters (S-21). */
  readonly headers: readonly SstpHeader[];
  /** Empty unless a code defines one. */
  readonly body: Uint8Array;
}

export const NO_BODY = new Uint8Array(0);
