// Checks a SOIF stream by every rule, in one pass.
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SectionDecoder, type SectionItem } from '../../../protocols/soif/index.js';
import { Findings } from './findings.js';
import { LayoutChecker } from './layout-checker.js';
import type { StreamKind } from './wrapper-checker.js';

/** The findings about a stream. */
export interface StreamReport {
  readonly findings: Findings;
  readonly kind: StreamKind;
  /** Whether the input was gzip. */
  readonly compressed: boolean;
}

/**
 * Reads a stream to its end and checks it by every rule. Memory is limited by the largest object (the tolerant
 * decoder holds one, of at most 64 MiB), whatever the size of the stream.
 * @param source the bytes as they are stored; gzip is recognized by its first two bytes (GATHERD-10.2)
 * @param kind undefined: the first line decides
 * Rejects with the source's error, or zlib's when the gzip data is damaged.
 */
export async function checkStream(
  source: AsyncIterable<Uint8Array>,
  kind?: StreamKind,
): Promise<StreamReport> {
  const findings = new Findings();
  const layout = new LayoutChecker(findings, kind);
  const tolerant = new TolerantReaderCheck(findings);
  const { compressed, stream } = await openStream(source);
  for await (const piece of stream) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    findings.bytes += chunk.length;
    layout.push(chunk);
    tolerant.push(chunk);
  }
  layout.end();
  tolerant.end();
  return { findings, kind: layout.wrappers.kind, compressed };
}

/**
 * Counts the objects that the tolerant decoder of this kit finds. An object that it loses is lost by others too
 * (SOIF-4.5).
 */
class TolerantReaderCheck {
  readonly #findings: Findings;
  readonly #decoder = new SectionDecoder();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.push(chunk));
  }

  end(): void {
    this.#take(this.#decoder.end());
  }

  #take(items: readonly SectionItem[]): void {
    for (const item of items) {
      if (item.kind === 'object') this.#findings.countCheck('tolerant-reader');
      else if (item.kind === 'warning' && item.rule === 'SOIF-4.5') {
        this.#findings.countCheck('tolerant-reader');
        this.#findings.report('tolerant-reader', item.offset, '', item.message);
      }
    }
  }
}

async function openStream(
  source: AsyncIterable<Uint8Array>,
): Promise<{ compressed: boolean; stream: AsyncIterable<Uint8Array> }> {
  const pieces = source[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < 2) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    first.push(value);
    length += value.length;
  }
  const [magic0, magic1] = Buffer.concat(first);
  const all = rejoin(first, pieces);
  if (magic0 !== 0x1f || magic1 !== 0x8b) return { compressed: false, stream: all };
  return { compressed: true, stream: gunzip(all) };
}

async function* rejoin(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // The pipeline passes the error of either stream to the other; the iteration over the decompressor throws it.
  const decompressor = createGunzip();
  const piped = pipeline(source, decompressor);
  piped.catch(() => {});
  yield* decompressor;
  await piped;
}
