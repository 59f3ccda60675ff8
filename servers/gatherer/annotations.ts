import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ConfigError, messageOf, StorageError } from '../../protocols/errors.js';
import {
  AnnotationDecoder,
  type AnnotationItem,
  encodeSoif,
  mergeSoif,
  SoifObject,
} from '../../protocols/soif/index.js';
import { canonicalUrl } from '../../protocols/urls/index.js';

export interface AnnotationsOptions {
  /** Told of everything in the files that is not as SOIF-11.1 wants it. */
  readonly onProblem?: (problem: ConfigError) => void;
  /** Bytes of all annotations: they are held in memory while objects are merged. Default 64 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * What was written by hand about objects (G-137), merged into what the Gatherer made, as `mergedb` does it (G-139 to G-142): for the
 * same attribute the manual value wins, manual attributes come first; of several files the one named first wins. URLs are
 * compared in canonical form, so that `~` finds `%7e`.
 */
export class Annotations {
  static readonly NONE = new Annotations(new Map());

  /** Of everything that the files say: two with the same digest merge in the same way. */
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
   * @throws StorageError when one cannot be read, or there is more than `maxBytes`; the signal's reason when aborted
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
        // G-142: what was named first wins.
        all.set(key, earlier === undefined ? object : overlay(earlier, object));
      }
    }
    return new Annotations(all);
  }

  /** Objects that are annotated. */
  get size(): number {
    return this.#objects.size;
  }

  /** What was written about a URL. */
  for(url: string): SoifObject | undefined {
    return this.#objects.get(keyOf(url));
  }

  /** The digest of what was written about one URL; undefined: nothing. It tells which objects must be merged again. */
  digestFor(url: string): string | undefined {
    const object = this.for(url);
    if (object === undefined) return undefined;
    return createHash('sha256').update(encodeSoif(object)).digest('hex').slice(0, 32);
  }

  /** The object with what was written about it; the same object when nothing was. Its type and URL stay. */
  merge(automatic: SoifObject): SoifObject {
    const manual = this.for(automatic.url);
    if (manual === undefined) return automatic;
    const merged = overlay(manual, automatic);
    return SoifObject.of(
      automatic.type,
      automatic.url,
      merged.attributes.map(({ name, value }) => [name, value] as const),
    );
  }

  /**
   * What was written about URLs that the Gatherer has nothing of: objects of their own (G-139).
   * @param known is there an object of this URL? It is in canonical form.
   */
  *unmatched(known: (url: string) => boolean): Generator<SoifObject, void, undefined> {
    for (const [url, object] of this.#objects) if (!known(url)) yield object;
  }
}

/** The attributes of `above`, then those that only `below` has. */
function overlay(above: SoifObject, below: SoifObject): SoifObject {
  // The first merge gives the places and the additions, the second one puts the values back.
  return mergeSoif(mergeSoif(above, below), above);
}

function keyOf(url: string): string {
  return canonicalUrl(url) ?? url;
}

async function* objectsOf(
  file: string,
  { onProblem, signal }: AnnotationsOptions,
): AsyncGenerator<SoifObject, void, undefined> {
  const decoder = new AnnotationDecoder();
  function* take(items: readonly AnnotationItem[]): Generator<SoifObject, void, undefined> {
    for (const item of items) {
      if (item.kind === 'object') yield item.object;
      else onProblem?.(new ConfigError(file, item.line, '', `${item.message} (${item.rule})`));
    }
  }
  signal?.throwIfAborted();
  const stream = createReadStream(file, signal === undefined ? {} : { signal });
  try {
    for await (const chunk of stream) yield* take(decoder.push(chunk as Buffer));
  } catch (cause) {
    signal?.throwIfAborted();
    const why = messageOf(cause);
    throw new StorageError(`${file}: the annotations cannot be read: ${why}`, { cause });
  }
  yield* take(decoder.end());
}
