import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ConfigError, messageOf, StorageError } from '../../../protocols/errors.js';
import {
  AnnotationDecoder,
  type AnnotationItem,
  encodeSoif,
  hrefOfUrl,
  overlaySoif,
  SoifObject,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';

export interface AnnotationsOptions {
  /** Receives every violation of SOIF-11.1 in the files. */
  readonly onProblem?: (problem: ConfigError) => void;
  /** Bytes of all annotations, which are held in memory. Default 64 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Manual annotations (G-137), which are merged into the Gatherer's objects as `mergedb` does (G-139 to G-142):
 * manual values win, manual attributes come first; of several files the first one wins. URLs are compared in
 * canonical form, so that `~` equals `%7e`.
 */
export class Annotations {
  static readonly NONE = new Annotations(new Map());

  /** Digest of all annotations: instances with equal digests merge in the same way. */
  readonly digest: string;
  readonly #objects: ReadonlyMap<string, SoifObject>;

  private constructor(objects: ReadonlyMap<string, SoifObject>) {
    this.#objects = objects;
    const hash = createHash('sha256');
    for (const url of [...objects.keys()].sort()) hash.update(encodeSoif(objects.get(url)!));
    this.digest = hash.digest('hex').slice(0, 32);
  }

  /**
   * Reads annotation files (G-141) in the order of the configuration.
   * @throws StorageError if one cannot be read or all exceed `maxBytes`; the signal's reason
   */
  static async load(files: readonly string[], options: AnnotationsOptions = {}): Promise<Annotations> {
    if (files.length === 0) return Annotations.NONE;
    const { maxBytes = DEFAULT_MAX_BYTES } = options;
    const all = new Map<string, SoifObject>();
    let bytes = 0;
    for (const file of files) {
      for await (const object of objectsOf(file, options)) {
        bytes += object.memory.length;
        if (bytes > maxBytes) throw new StorageError(`${file}: more than ${maxBytes} bytes of annotations`);
        const key = keyOf(object.url);
        const earlier = all.get(key);
        // G-142: the first file wins.
        all.set(key, earlier === undefined ? object : overlaySoif(earlier, object));
      }
    }
    return new Annotations(all);
  }

  /** Number of annotated objects. */
  get size(): number {
    return this.#objects.size;
  }

  /** Returns the annotation of a URL; undefined if it is not annotated. */
  get(url: string): SoifObject | undefined {
    return this.#objects.get(keyOf(url));
  }

  /**
   * Returns the digest of a URL's annotation, which changes when the object must be merged again; undefined if
   * it is not annotated.
   */
  digestFor(url: string): string | undefined {
    const object = this.get(url);
    if (object === undefined) return undefined;
    return createHash('sha256').update(encodeSoif(object)).digest('hex').slice(0, 32);
  }

  /** Returns the object with its annotation; the same object if it is not annotated. Keeps its type and URL. */
  merge(automatic: SoifObject): SoifObject {
    const manual = this.get(automatic.url);
    if (manual === undefined) return automatic;
    const merged = overlaySoif(manual, automatic);
    return SoifObject.of(
      automatic.type,
      automatic.url,
      merged.attributes.map(({ name, value }) => [name, value] as const),
    );
  }

  /**
   * Yields the annotations of URLs without an object, as objects (G-139).
   * @param isKnown whether the Gatherer has an object of this canonical URL
   */
  *unmatched(isKnown: (url: string) => boolean): Generator<SoifObject, void, undefined> {
    for (const [url, object] of this.#objects) if (!isKnown(url)) yield object;
  }
}

function keyOf(url: string): string {
  return canonicalUrl(hrefOfUrl(url)) ?? url;
}

async function* objectsOf(
  file: string,
  { onProblem, signal }: AnnotationsOptions,
): AsyncGenerator<SoifObject, void, undefined> {
  const decoder = new AnnotationDecoder();
  function* take(items: readonly AnnotationItem[]): Generator<SoifObject, void, undefined> {
    for (const item of items) {
      if (item.kind === 'object') {
        const problem = urlProblem(item.object.urlBytes, item.object.type);
        if (problem === undefined) yield item.object;
        else onProblem?.(new ConfigError(file, item.line, '', `${problem} (SOIF-2.9)`));
      } else onProblem?.(new ConfigError(file, item.line, '', `${item.message} (${item.rule})`));
    }
  }
  signal?.throwIfAborted();
  const stream = createReadStream(file, { signal });
  try {
    for await (const chunk of stream) yield* take(decoder.push(chunk as Buffer));
  } catch (cause) {
    signal?.throwIfAborted();
    throw new StorageError(`${file}: the annotations cannot be read: ${messageOf(cause)}`, { cause });
  }
  yield* take(decoder.end());
}
