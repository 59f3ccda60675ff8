import { createHash } from 'node:crypto';
import { KitError } from '../../../protocols/errors.js';
import type { SelectionRules } from '../context.js';
import { LATEX_WINDOW_BYTES } from '../recognition/magic.js';
import { isRejected, type Recognition, recognizeComponent } from '../recognition/recognize.js';
import { ByteReader, type Chunks, cleanPath, isUnsafe, type Member, unpackedName } from './chunks.js';
import {
  FORMATS,
  type Format,
  formatByContent,
  isTextFormat,
  MESSAGE_FORMAT,
  MESSAGE_TYPES,
} from './formats.js';
import type { UnnestMeter } from './meter.js';
import { hasParts } from './mime.js';

/** Number of bytes that are examined to recognize the type of a component. */
const HEAD_BYTES = 4096;

/** A component that is not nested itself. */
export interface Leaf extends Recognition {
  /** Path inside the archives, layers separated by `/` (E-56). */
  readonly path: string;
  /** The bytes of the component; only the start of a very large one. */
  readonly body: Uint8Array;
  /** Size and MD5 of the whole component; absent if not all of it could be read. */
  readonly whole?: { readonly size: number; readonly md5: string };
}

/** Options of a walk. */
export interface WalkEnvironment {
  readonly rules: SelectionRules;
  readonly meter: UnnestMeter;
  readonly warn: (message: string) => void;
  /**
   * Called for each component in archive order. The walk awaits it, so that only one component is in memory at
   * a time.
   */
  readonly visit: (leaf: Leaf) => Promise<void>;
}

/**
 * Unpacks one document as a stream and visits its components (E-42), to any depth up to the limit. Nothing is
 * written to disk, and names of members never become names of files. Damage and limits become warnings; intact
 * components are visited.
 */
export async function unnest(
  type: string,
  name: string,
  body: Chunks,
  environment: WalkEnvironment,
): Promise<void> {
  await new Walk(environment).nested(
    { type, name, path: name, prefix: '', depth: 0, isRoot: true },
    new ByteReader(body),
  );
}

interface NestedFile {
  readonly type: string;
  /** The name that determines the type of the file. */
  readonly name: string;
  /** Its path inside the archives. */
  readonly path: string;
  /** Prefix of the paths of its members: empty, or ends with `/`. */
  readonly prefix: string;
  /** Number of layers around it. */
  readonly depth: number;
  readonly isRoot: boolean;
}

class Walk {
  readonly #environment: WalkEnvironment;
  readonly #reported = new Set<string>();

  constructor(environment: WalkEnvironment) {
    this.#environment = environment;
  }

  /** Unpacks a file of a nested type. */
  async nested(file: NestedFile, reader: ByteReader): Promise<void> {
    const { meter } = this.#environment;
    if (file.depth >= meter.limits.maxDepth) {
      return this.#warn(file, `more than ${meter.limits.maxDepth} nested layers (E-45)`);
    }
    const format = await this.#format(file, reader);
    if (format === undefined) return;
    try {
      for await (const member of format.members(meter.timed(reader.rest()), meter)) {
        await this.#member(file, format, member);
        if (meter.exhausted) return;
      }
    } catch (error) {
      this.#failed(file, error);
    }
  }

  /**
   * Returns the format by the bytes, else by the type. A component whose bytes have no known format is visited
   * as a leaf.
   */
  async #format(file: NestedFile, reader: ByteReader): Promise<Format | undefined> {
    if (MESSAGE_TYPES.has(file.type)) return MESSAGE_FORMAT;
    const possible = FORMATS.get(file.type) ?? [];
    const head = await reader.peek(HEAD_BYTES);
    const detected = formatByContent(head);
    if (detected !== undefined && possible.includes(detected)) return detected;
    const [preferred] = possible;
    if (detected === undefined && preferred !== undefined && isTextFormat(preferred)) return preferred;
    if (detected !== undefined) {
      this.#warn(file, `its name says ${file.type}, but its bytes are ${detected.name} data (E-40)`);
      return detected;
    }
    const found = recognizeComponent('', head, this.#environment.rules);
    this.#warn(file, `its name says ${file.type}, but its bytes are not (E-40)`);
    if (!file.isRoot && !FORMATS.has(found.type)) await this.#leaf(file.path, found, reader);
    return undefined;
  }

  async #member(parent: NestedFile, format: Format, member: Member): Promise<void> {
    const { meter, rules } = this.#environment;
    meter.component();
    const written = member.name === '' ? unpackedName(parent.name) : member.name;
    if (isUnsafe(written)) return this.#warn(parent, `a member named ${quote(written)} is left out (E-45)`);
    if (member.special !== undefined) {
      return this.#warn(parent, `${quote(written)} is ${member.special} and is not followed (E-45)`);
    }
    const memberPath = cleanPath(written);
    const path = `${format.transparent ? directoryOf(parent.path) : parent.prefix}${memberPath}`;
    const reader = new ByteReader(member.content);
    try {
      const found = await this.#recognize(baseName(memberPath), reader);
      // E-26: only the component whose type is on the stop list is skipped.
      if (isRejected(found.type, rules)) return;
      const file: NestedFile = {
        type: found.type,
        name: baseName(memberPath),
        path,
        // E-56: paths in a nested archive are below its name; the content of a compressed file replaces it.
        prefix: format.transparent ? parent.prefix : `${path}/`,
        depth: parent.depth + 1,
        isRoot: false,
      };
      if (FORMATS.has(found.type)) return await this.nested(file, reader);
      if (MESSAGE_TYPES.has(found.type) && hasParts(await reader.peek(HEAD_BYTES))) {
        return await this.#message(file, found, reader);
      }
      await this.#leaf(path, found, reader);
    } catch (error) {
      this.#failed({ ...parent, path }, error);
    } finally {
      await reader.close();
    }
  }

  async #recognize(name: string, reader: ByteReader): Promise<Recognition> {
    const { rules } = this.#environment;
    const found = recognizeComponent(name, await reader.peek(HEAD_BYTES), rules);
    return found.type === 'TeX'
      ? recognizeComponent(name, await reader.peek(LATEX_WINDOW_BYTES), rules)
      : found;
  }

  /** Visits a message and its attached files as separate components. */
  async #message(file: NestedFile, found: Recognition, reader: ByteReader): Promise<void> {
    const bytes: Uint8Array[] = [];
    await this.#leaf(file.path, found, reader, (chunk) => bytes.push(chunk));
    await this.nested({ ...file, prefix: `${file.path}/` }, new ByteReader(chunksFrom(bytes)));
  }

  async #leaf(
    path: string,
    found: Recognition,
    reader: ByteReader,
    keep: (chunk: Uint8Array) => void = () => {},
  ): Promise<void> {
    const { meter, visit } = this.#environment;
    const { maxComponentBytes } = meter.limits;
    const md5 = createHash('md5');
    const parts: Uint8Array[] = [];
    let size = 0;
    let failure: unknown;
    try {
      for await (const chunk of reader.rest()) {
        md5.update(chunk);
        if (size < maxComponentBytes) {
          const part = chunk.subarray(0, maxComponentBytes - size);
          parts.push(part);
          keep(part);
        }
        size += chunk.length;
      }
    } catch (error) {
      if (!(error instanceof KitError)) throw error;
      failure = error;
    }
    if (size > maxComponentBytes) {
      this.#environment.warn(
        `${quote(path)}: only its first ${maxComponentBytes} bytes are summarized (E-45)`,
      );
    }
    const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    // The readable start of a damaged file is summarized, unless it is empty.
    if (failure === undefined || size > 0) {
      const whole = failure === undefined ? { whole: { size, md5: md5.digest('hex') } } : {};
      await visit({ ...found, path, body, ...whole });
    }
    if (failure !== undefined) throw failure;
  }

  #failed(file: NestedFile, error: unknown): void {
    if (!(error instanceof KitError)) throw error;
    this.#warn(file, error.message);
  }

  /** Reports each message once: an early end is detected at several levels. */
  #warn(file: NestedFile, message: string): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#environment.warn(`${quote(file.path)}: ${message}`);
  }
}

async function* chunksFrom(parts: readonly Uint8Array[]): Chunks {
  yield* parts;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
}
