import type { EssenceSources } from './context.js';
import type { EssenceInput, EssenceLink, EssenceOptions, EssenceOutput } from './model.js';

/** What a worker is born with: plain data, from which it compiles its own context. */
export interface WorkerSetup {
  readonly options: EssenceOptions;
  readonly sources: EssenceSources;
}

/** A document on its way to a worker. */
export interface WorkerRequest {
  readonly input: EssenceInput;
}

/** A worker says once that it is ready, then answers one request at a time, in order. */
export type WorkerReply =
  | { readonly ready: true }
  | { readonly output: PackedOutput }
  | { readonly failure: string };

/** An output on its way back: a page's hundreds of links travel as one buffer, not as so many objects. */
export type PackedOutput = Omit<EssenceOutput, 'links'> & { readonly links: Uint8Array };

/** The output as it is sent, its buffers their own. */
export function packOutput(output: EssenceOutput): PackedOutput {
  const { links, soif } = output;
  return {
    ...output,
    links: packLinks(links),
    ...(soif === undefined ? {} : { soif: detached(soif) }),
  };
}

/** What {@link packOutput} was given. */
export function unpackOutput(packed: PackedOutput): EssenceOutput {
  return { ...packed, links: unpackLinks(packed.links) };
}

const NO_LINKS: readonly EssenceLink[] = [];
const LINE_END = 0x0a;
const EMBEDDED = 'E'.charCodeAt(0);

/** A line a link: the hop's letter and the URL, which in its canonical form holds no line end. */
function packLinks(links: readonly EssenceLink[]): Uint8Array {
  if (links.length === 0) return new Uint8Array();
  let lines = '';
  for (const { url, hop } of links) lines += `${hop}${url}\n`;
  return detached(Buffer.from(lines));
}

/** Every URL becomes a string of its own: parts of one long string would keep all of it in memory. */
function unpackLinks(packed: Uint8Array): readonly EssenceLink[] {
  if (packed.length === 0) return NO_LINKS;
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const links: EssenceLink[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, start);
    links.push({
      url: bytes.toString('utf8', start + 1, end),
      hop: bytes[start] === EMBEDDED ? 'E' : 'L',
    });
    start = end + 1;
  }
  return links;
}

/** The buffers that can change hands with a message: those that nothing else has a view of. */
export function transferable(bytes: Uint8Array | undefined): ArrayBuffer[] {
  if (bytes === undefined || bytes.length === 0 || !(bytes.buffer instanceof ArrayBuffer)) return [];
  return bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

/** The same bytes in a buffer of their own, so that a message carries them and not what lies beside them. */
export function detached(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
    ? bytes
    : new Uint8Array(bytes);
}
