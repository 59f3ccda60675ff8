import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { ConfigError, errorCode, messageOf, StorageError, UsageError } from '../../../protocols/errors.js';
import {
  AnnotationDecoder,
  bytesOfUrl,
  DEFAULT_TYPE,
  decodeText,
  hrefOfUrl,
  isAttributeName,
  textOfUrl,
  urlFields,
  urlOfText,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { replaceFile } from '../../../storage/files/replace-file.js';

/** The annotation of one document. */
export interface Annotation {
  readonly type: string;
  /** One character a byte. */
  readonly url: string;
  /** Attributes in file order; every value is one line. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** Maximum number of bytes of an annotation file, because the whole file is in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads and changes an annotation file (G-137). A file with an error is not opened, so that saving never loses
 * data. Saving writes only `@TYPE { url`, `Name:` HT value and `}`, without sizes.
 */
export class AnnotationFile {
  readonly #path: string;
  #annotations: Map<string, Annotation>;
  #digest: string;

  private constructor(path: string, annotations: Map<string, Annotation>, digest: string) {
    this.#path = path;
    this.#annotations = annotations;
    this.#digest = digest;
  }

  /**
   * Reads a file; a missing one is empty.
   *
   * @throws ConfigError with the line of an error in the file; StorageError if the file is too large or cannot
   *   be read
   */
  static async open(path: string): Promise<AnnotationFile> {
    const bytes = await readContent(path);
    return new AnnotationFile(path, parse(bytes, path), digestOf(bytes));
  }

  /**
   * Returns the annotations in the order of the file; with `text`, those that contain it in the URL or a value,
   * ignoring case.
   */
  list(text = ''): Annotation[] {
    const query = text.toLowerCase();
    return [...this.#annotations.values()].filter(
      ({ url, attributes }) =>
        query === '' ||
        textOfUrl(url).toLowerCase().includes(query) ||
        attributes.some(([, value]) => value.toLowerCase().includes(query)),
    );
  }

  /** Returns the annotation of exactly this URL. */
  get(url: string): Annotation | undefined {
    return this.#annotations.get(url);
  }

  /** The URL that a user wrote: its UTF-8, or the URL of the file that {@link shownUrl} shows like this. */
  urlOf(text: string): string {
    const url = urlOfText(text);
    if (this.#annotations.has(url)) return url;
    for (const known of this.#annotations.keys()) if (shownUrl(known) === text) return known;
    return url;
  }

  /**
   * Replaces a document's annotation; removes it if there are no attributes. Names ignore case: the last one
   * wins.
   *
   * @throws UsageError for a URL, a name or a value that the format cannot represent
   */
  put({ type, url, attributes }: Annotation): void {
    checkUrl(url);
    const kept = new Map<string, readonly [string, string]>();
    for (const [name, value] of attributes) {
      if (!isAttributeName(name))
        throw new UsageError(`${name === '' ? 'an empty name' : name}: is not the name of an attribute`);
      // G-137: DATA is one line.
      if (/[\0\n\r]/.test(value)) throw new UsageError(`${name}: a value must be one line`);
      kept.set(name.toLowerCase(), [name, value]);
    }
    if (kept.size === 0) this.#annotations.delete(url);
    else this.#annotations.set(url, { type, url, attributes: [...kept.values()] });
  }

  /**
   * Sets attributes of a document, removes those that are undefined, and keeps the others. @throws UsageError
   * like {@link put}
   */
  change(url: string, changes: readonly (readonly [name: string, value: string | undefined])[]): void {
    const { type, attributes } = this.get(url) ?? { type: DEFAULT_TYPE, attributes: [] };
    const next = new Map(attributes.map((pair) => [pair[0].toLowerCase(), pair]));
    for (const [name, value] of changes) {
      if (value === undefined) next.delete(name.toLowerCase());
      else next.set(name.toLowerCase(), [name, value]);
    }
    this.put({ type, url, attributes: [...next.values()] });
  }

  /** Returns the content of the file as {@link save} writes it: URLs keep their bytes, values become UTF-8. */
  bytes(): Uint8Array {
    return Buffer.concat(
      [...this.#annotations.values()].flatMap(({ type, url, attributes }) => {
        const lines = attributes.map(([name, value]) => `${name}:\t${value}\n`);
        return [Buffer.from(`@${type} { `), bytesOfUrl(url), Buffer.from(`\n${lines.join('')}}\n`)];
      }),
    );
  }

  /**
   * Writes the file atomically.
   *
   * @throws StorageError if the file has changed since it was read, and nothing is written; or if it cannot be
   *   written
   */
  async save(): Promise<void> {
    if (digestOf(await readContent(this.#path)) !== this.#digest)
      throw new StorageError(`${this.#path} was changed by another program; nothing was written`);
    const bytes = this.bytes();
    const mode = ((await stat(this.#path).catch(() => undefined))?.mode ?? 0o644) & 0o777;
    await replaceFile(this.#path, (temporary) => writeFile(temporary, bytes, { flag: 'wx', mode }), {
      force: true,
    });
    this.#digest = digestOf(bytes);
  }
}

/**
 * The URL as text that {@link AnnotationFile.urlOf} reads back: bytes that are not UTF-8 are percent-encoded.
 */
export function shownUrl(url: string): string {
  const { url: text, urlBase64 } = urlFields(url);
  return urlBase64 === undefined ? text : hrefOfUrl(url);
}

function checkUrl(url: string): void {
  if (urlProblem(bytesOfUrl(url)) !== undefined || canonicalUrl(hrefOfUrl(url)) === undefined)
    throw new UsageError(`${textOfUrl(url)}: is not a URL`);
}

async function readContent(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new StorageError(`${path}: more than ${MAX_BYTES} bytes`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    if (errorCode(cause) === 'ENOENT') return Buffer.alloc(0);
    throw new StorageError(`${path}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function parse(bytes: Buffer, path: string): Map<string, Annotation> {
  const decoder = new AnnotationDecoder({ mode: 'lenient' });
  const annotations = new Map<string, Annotation>();
  for (const item of [...decoder.push(bytes), ...decoder.end()]) {
    if (item.kind === 'warning') {
      if (item.dropped) throw new ConfigError(path, item.line, '', `${item.message}; correct it first`);
      continue;
    }
    const { object } = item;
    const attributes = object.attributes.map(({ name, value }) => [name, decodeText(value)] as const);
    // Several annotations of a URL are merged; later values win (SOIF-5.2).
    const before = annotations.get(object.url)?.attributes ?? [];
    const merged = new Map([...before, ...attributes].map((pair) => [pair[0].toLowerCase(), pair]));
    annotations.set(object.url, { type: object.type, url: object.url, attributes: [...merged.values()] });
  }
  return annotations;
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
