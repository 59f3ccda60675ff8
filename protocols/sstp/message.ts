/** A header as it is sent or was received; received names are in capitals (S-31). */
export type SstpHeader = readonly [name: string, value: string];

/** The abstract message (sstp.md section 4): all that is known above the codec (S-22). */
export interface SstpMessage {
  /** 0..999 */
  readonly code: number;
  /** In the order of the wire; the order of equal names matters (S-21). */
  readonly headers: readonly SstpHeader[];
  /** Empty unless a code defines one. */
  readonly body: Uint8Array;
}

export const NO_BODY = new Uint8Array(0);
