import { decodeBytes } from './charset.js';
import type { EssenceInput, EssenceSettings } from './model.js';

/** A gathered document as the summarizers see it. Its text is decoded at the first access. */
export class SourceDocument {
  readonly url: string;
  readonly body: Uint8Array;
  readonly settings: EssenceSettings;
  readonly warnings: string[] = [];
  /** Links of the page that are not URLs, as they are written. */
  malformedLinks: readonly string[] = [];
  readonly #input: EssenceInput;
  readonly #isHtml: boolean;
  #text: string | undefined;

  constructor(input: EssenceInput, settings: EssenceSettings, isHtml: boolean) {
    this.url = input.url;
    this.body = input.body;
    this.settings = settings;
    this.#input = input;
    this.#isHtml = isHtml;
  }

  get text(): string {
    this.#text ??= decodeBytes(this.body, {
      html: this.#isHtml,
      ...(this.#input.charset === undefined ? {} : { declared: this.#input.charset }),
      warn: (message) => this.warn(message),
    });
    return this.#text;
  }

  /** Target of a symbolic link; undefined for everything else. */
  get linkTarget(): string | undefined {
    return this.#input.linkTarget;
  }

  /** Last component of the URL's path (E-10). */
  get fileName(): string {
    return fileNameOf(this.url);
  }

  warn(message: string): void {
    this.warnings.push(message);
  }
}

/** Returns the last path component of a URL, unescaped, without query; empty for a directory (E-10). */
export function fileNameOf(url: string): string {
  let end = url.indexOf('?');
  if (end < 0) end = url.length;
  const start = url.lastIndexOf('/', end - 1) + 1;
  // `http://host` has no path: what follows the second slash is the host.
  if (start >= 2 && url.charCodeAt(start - 2) === 0x2f && url.charCodeAt(start - 3) === 0x3a) return '';
  const name = url.slice(start, end);
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}
