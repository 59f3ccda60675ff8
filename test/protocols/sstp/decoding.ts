// Decodes SSTP to plain values and rule numbers, for the tests of the codec.
import { ProtocolError } from '../../../protocols/errors.js';
import {
  RequestDecoder,
  SstpDecoder,
  type SstpDecoderOptions,
  type SstpMessage,
  type SstpRequest,
} from '../../../protocols/sstp/index.js';

export const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Decodes chunks to plain messages, and to the rule and offset of the error that ended them. */
export function decodeAll(
  role: 'request' | 'reply',
  chunks: readonly Uint8Array[],
  options: SstpDecoderOptions = {},
): { messages: SstpMessage[]; error: string | undefined } {
  const decoder = new SstpDecoder(role, options);
  const messages: SstpMessage[] = [];
  try {
    for (const chunk of chunks) {
      for (let offset = 0; offset < chunk.length; ) {
        offset = decoder.read(chunk, offset);
        const message = decoder.takeMessage();
        if (message !== undefined)
          messages.push({
            code: message.code,
            headers: message.headers,
            body: Uint8Array.from(message.body),
          });
      }
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { messages, error: `${error.rule} at ${error.offset}` };
  }
  return { messages, error: undefined };
}

/** Decodes the only message of a text. */
export function decodeOne(role: 'request' | 'reply', text: string): SstpMessage {
  const { messages, error } = decodeAll(role, [bytes(text)]);
  if (error !== undefined) throw new Error(error);
  if (messages.length !== 1) throw new Error(`${messages.length} messages`);
  return messages[0]!;
}

/** Decodes the requests of a text; the rule of an error is the last element. */
export function requestsIn(text: string, options: { fast?: boolean } = {}): (SstpRequest | string)[] {
  const decoder = new RequestDecoder(options);
  const out: (SstpRequest | string)[] = [];
  decoder.push(bytes(text));
  try {
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) out.push(next);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    out.push(error.rule);
  }
  return out;
}

/** The rule of the ProtocolError that a call throws. */
export function brokenRule(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof ProtocolError) return error.rule;
    throw error;
  }
  return 'none';
}

/** The rule that a request breaks, if any. */
export const ruleOfRequest = (text: string) => decodeAll('request', [bytes(text)]).error?.split(' ')[0];

/** Cuts bytes into pieces of one size. */
export function pieces(all: Uint8Array, size: number): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let offset = 0; offset < all.length; offset += size) out.push(all.subarray(offset, offset + size));
  return out;
}
