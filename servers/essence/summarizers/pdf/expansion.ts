// Refuses PDF files whose streams expand beyond the limits of E-45, before the library decodes them: it keeps a
// decoded stream in memory, whatever its size. What this check cannot see (other filters first, encrypted
// files) meets the limit of the reader process.
import { constants, inflateSync } from 'node:zlib';
import { errorCode } from '../../../../protocols/errors.js';
import type { UnnestLimits } from '../../unnest-limits.js';

/** Bytes before `stream` in which its dictionary is looked for. */
const DICTIONARY_BYTES = 1024;
/** The most that deflate expands one byte to. */
const MAX_DEFLATE_RATIO = 1032;

/**
 * Returns a clause about the first limit that the streams of a PDF file exceed; undefined if all are within the
 * limits. Only streams that could exceed a limit are decoded: nested filters, and large streams that are not
 * pictures, which are not decoded for their text.
 *
 * @param isOutOfTime - the streams that follow are not checked then
 */
export function excessiveExpansion(
  body: Uint8Array,
  limits: UnnestLimits,
  isOutOfTime: () => boolean,
): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const { maxComponentBytes, maxRatio, ratioFloorBytes } = limits;
  const ceiling = Math.max(ratioFloorBytes, maxComponentBytes, body.length * maxRatio);
  let total = 0;
  for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at + 6)) {
    const begin = startOfData(bytes, at + 6);
    if (begin === undefined) continue;
    const dictionary = dictionaryBefore(bytes, at);
    const layers = leadingFlateLayers(dictionary);
    if (layers === 0 || (layers === 1 && /\/Subtype\s*\/Image\b/.test(dictionary))) continue;
    const end = bytes.indexOf('endstream', begin);
    let data: Buffer = bytes.subarray(begin, end < 0 ? bytes.length : end);
    if (isOutOfTime()) return undefined;
    if (layers === 1 && data.length * MAX_DEFLATE_RATIO <= maxComponentBytes) continue;
    for (let layer = 0; layer < layers; layer++) {
      const inflated = inflateUpTo(data, maxComponentBytes);
      if (inflated === 'too large') return `a stream expands to more than ${maxComponentBytes} bytes`;
      if (inflated === undefined) break;
      data = inflated;
      total += data.length;
      if (total > ceiling) return `its streams expand to more than ${maxRatio} times its size`;
    }
  }
  return undefined;
}

/** The data begin after the line end; undefined if this is not the keyword of a stream. */
function startOfData(bytes: Buffer, offset: number): number | undefined {
  if (bytes[offset] === 0x0a) return offset + 1;
  if (bytes[offset] !== 0x0d) return undefined;
  return bytes[offset + 1] === 0x0a ? offset + 2 : offset + 1;
}

function dictionaryBefore(bytes: Buffer, end: number): string {
  const text = bytes.toString('latin1', Math.max(0, end - DICTIONARY_BYTES), end);
  return text.slice(Math.max(0, text.lastIndexOf('obj')));
}

/** The number of FlateDecode filters at the start of the list. */
function leadingFlateLayers(dictionary: string): number {
  const list = /\/(?:Filter|F)\s*(?:\[\s*)?((?:\/[A-Za-z0-9#]+\s*)+)/.exec(dictionary)?.[1];
  if (list === undefined) return 0;
  const names = list.split('/').map((name) => name.trim());
  const other = names.findIndex((name, index) => index > 0 && name !== 'FlateDecode' && name !== 'Fl');
  return (other < 0 ? names.length : other) - 1;
}

/** Undefined for data that are not deflated: the library reports them. */
function inflateUpTo(data: Buffer, limit: number): Buffer | 'too large' | undefined {
  try {
    // A stream without its end is decoded as far as it goes, as the library does.
    return inflateSync(data, { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    return errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : undefined;
  }
}
