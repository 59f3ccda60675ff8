// The lines of a bulk reply in the shipped format (Part A).
import { encodeResult, errorText } from '../broker/index.js';
import { SECTION_CLOSE, SECTION_OPEN } from '../soif/index.js';
import type { UnixSeconds } from '../time.js';
import { CHANGE_KINDS, type ChangeKind } from './events.js';

/** Status codes of a bulk answer (BT-10, BT-11). `end` and `endError` are only read, never sent. */
export const BULK_STATUS = { success: 0, error: 400, end: 99, endError: 499 } as const;

/** BT-10: `000 - <text>`, sent before the first byte of SOIF. */
export function encodeBulkSuccess(text: string): Uint8Array {
  return encodeResult({ kind: 'unknown', code: BULK_STATUS.success, text });
}

/** BT-10: `400 - ERROR: <sentence>`, sent instead of `000` when no transfer is possible. */
export function encodeBulkError(sentence: string): Uint8Array {
  return encodeResult({ kind: 'unknown', code: BULK_STATUS.error, text: errorText(sentence) });
}

/**
 * The text of the `000` line: `time` is the time of the server's clock up to which the transfer is complete.
 */
export function formatTransferText(time: UnixSeconds): string {
  return `Bulk transfer follows, time ${time}`;
}

/** The largest time of `#SINCE` (BRK-3.6). */
const MAX_TIME = 0xff_ff_ff_ff;

/**
 * Reads the time of {@link formatTransferText}, which a peer sends with its next `#SINCE`; undefined for other
 * texts, and for a time beyond the range of `#SINCE`: every later collection with it would be refused.
 */
export function parseTransferTime(text: string): UnixSeconds | undefined {
  const match = /^Bulk transfer follows, time (\d{1,15})$/.exec(text.trim());
  const time = match === null ? Number.NaN : Number(match[1]);
  return time <= MAX_TIME ? time : undefined;
}

/** The line that opens a group (BT-17). The bytes are shared: do not change them. */
export function groupOpen(change: ChangeKind): Uint8Array {
  return SECTION_OPEN[change];
}

const CLOSE_AND_BLANK_LINE: Uint8Array = Buffer.from('}\n\n');

/** The line that closes a group, with the empty line after all but the last one (BT-17). Shared bytes. */
export function groupClose(change: ChangeKind): Uint8Array {
  return change === CHANGE_KINDS.at(-1) ? SECTION_CLOSE : CLOSE_AND_BLANK_LINE;
}
