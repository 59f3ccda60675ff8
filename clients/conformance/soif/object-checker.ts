// Checks type, URL, attribute names and values of an object.
import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { Findings } from './findings.js';

const LF = 0x0a;
/** Bytes of a value that are kept; every value with a defined form is shorter. */
const KEPT_BYTES = 64;

/** SOIF-6.1, 6.2: attributes whose values are decimal seconds. */
const TIMES: ReadonlySet<string> = new Set([
  'update-time',
  'last-modification-time',
  'refresh-rate',
  'time-to-live',
]);

/** Checks the values of attributes, one after the other, chunk by chunk. */
class ValueChecker {
  readonly #findings: Findings;
  #name = '';
  #url = '';
  #offset = 0;
  #size = 0;
  #kept = '';
  #newlines = 0;
  #lastByte = -1;
  #isUtf8 = true;
  /** Set from the first byte that is not ASCII to the end of the value. */
  #decoder: TextDecoder | undefined;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** @param offset of the value's first byte */
  begin(name: string, url: string, offset: number): void {
    this.#name = name;
    this.#url = url;
    this.#offset = offset;
    this.#size = 0;
    this.#kept = '';
    this.#newlines = 0;
    this.#lastByte = -1;
    this.#isUtf8 = true;
    this.#decoder = undefined;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#kept.length < KEPT_BYTES)
      this.#kept += piece.toString('latin1', 0, KEPT_BYTES - this.#kept.length);
    this.#size += piece.length;
    this.#lastByte = piece[piece.length - 1] ?? -1;
    // Two are enough to know that one of them is not at the end.
    for (let at = piece.indexOf(LF); at >= 0 && this.#newlines < 2; at = piece.indexOf(LF, at + 1))
      this.#newlines++;
    if (this.#isUtf8 && (this.#decoder !== undefined || !isAscii(piece))) this.#decode(piece);
  }

  /** The value is complete. */
  end(): void {
    if (this.#decoder !== undefined) this.#decode();
    const findings = this.#findings;
    findings.countCheck('empty-values');
    findings.countCheck('utf-8');
    if (this.#size === 0) this.#report('empty-values', 'an attribute with an empty value is written');
    if (!this.#isUtf8) this.#report('utf-8', `the value of ${this.#name} is not UTF-8`);
    const inner = this.#newlines - (this.#lastByte === LF ? 1 : 0);
    if (inner > 0 || this.#newlines > 1) {
      findings.countCheck('final-newlines');
      if (this.#lastByte !== LF)
        this.#report('final-newlines', `${this.#name} has several lines, the last without LF`);
    }
    this.#checkForm();
  }

  #decode(piece?: Buffer): void {
    this.#decoder ??= new TextDecoder('utf-8', { fatal: true });
    try {
      this.#decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      this.#isUtf8 = false;
      this.#decoder = undefined;
    }
  }

  /** SOIF-6.1 and 6.4: values that have a form. */
  #checkForm(): void {
    const name = this.#name.toLowerCase();
    const text = this.#size > KEPT_BYTES ? `${this.#kept}...` : this.#kept;
    if (TIMES.has(name)) {
      this.#findings.countCheck('times');
      if (!/^(?:0|[1-9][0-9]*)$/.test(text)) {
        this.#report('times', `${this.#name} is not decimal seconds: ${JSON.stringify(text)}`);
      }
    } else if (name === 'md5') {
      this.#findings.countCheck('md5');
      if (!/^[0-9a-f]{32}$/.test(text)) {
        this.#report('md5', `not 32 lower-case hex digits: ${JSON.stringify(text)}`);
      }
    }
  }

  #report(rule: Parameters<Findings['report']>[0], message: string): void {
    this.#findings.report(rule, this.#offset, this.#url, message);
  }
}

/** SOIF-6.5. */
const REQUIRED = ['gatherer-name', 'gatherer-host', 'gatherer-version', 'update-time'];
/** Names of one object that are remembered; an object with more names is checked for duplicates of these. */
const MAX_NAMES = 65_536;
/** SOIF-2.8. */
const NAME = /^[A-Za-z0-9_.<>-]+$/;
const TYPE = /^[A-Za-z0-9-]+$/;
/** SOIF-2.9: bytes that an emitter percent-encodes. */
const TO_ENCODE = /[\x00-\x20{}\x7f-\xff]/;

/** Checks the content of an object. Texts have one character per byte. */
export class ObjectChecker {
  readonly value: ValueChecker;
  readonly #findings: Findings;
  readonly #names = new Set<string>();
  #start = 0;
  #url = '';
  #isWhole = true;
  #needsBookkeeping = true;

  constructor(findings: Findings) {
    this.#findings = findings;
    this.value = new ValueChecker(findings);
  }

  get url(): string {
    return this.#url;
  }

  /** Begins an object whose line `@type { url` has been read. */
  begin(type: string, url: string, offset: number, needsBookkeeping: boolean): void {
    const findings = this.#findings;
    this.#start = offset;
    this.#url = url;
    this.#isWhole = true;
    this.#needsBookkeeping = needsBookkeeping;
    this.#names.clear();
    findings.objects++;
    for (const rule of ['layout', 'line-ends', 'names', 'url', 'url-encoding'] as const)
      findings.countCheck(rule);
    if (!TYPE.test(type)) findings.report('names', offset, url, `template type ${JSON.stringify(type)}`);
    if (url === '') findings.report('url', offset, url, 'the URL is missing');
    else if (url.startsWith('{')) findings.report('url', offset, url, 'the URL begins with a brace');
    else if (/[\t-\r ]/.test(url)) findings.report('url', offset, url, 'white space in the URL');
    else if (TO_ENCODE.test(url)) {
      findings.report(
        'url-encoding',
        offset,
        url,
        `not percent-encoded: ${JSON.stringify(TO_ENCODE.exec(url)?.[0])}`,
      );
    }
  }

  /** Begins an attribute whose head `name{size}:` has been read. */
  attribute(name: string, offset: number, valueOffset: number): void {
    const findings = this.#findings;
    findings.attributes++;
    for (const rule of ['names', 'sizes', 'duplicates'] as const) findings.countCheck(rule);
    if (!NAME.test(name))
      findings.report('names', offset, this.#url, `attribute name ${JSON.stringify(name)}`);
    const folded = name.toLowerCase();
    if (this.#names.has(folded)) findings.report('duplicates', offset, this.#url, `${name} occurs again`);
    else if (this.#names.size < MAX_NAMES) this.#names.add(folded);
    this.value.begin(name, this.#url, valueOffset);
  }

  /** Records that part of the object could not be read, which may contain missing attributes. */
  markDamaged(): void {
    this.#isWhole = false;
  }

  /** Ends the object, whose closing brace has been read. */
  end(): void {
    if (!this.#isWhole || !this.#needsBookkeeping) return;
    this.#findings.countCheck('required-attributes');
    const missing = REQUIRED.filter((name) => !this.#names.has(name));
    if (missing.length > 0) {
      this.#findings.report('required-attributes', this.#start, this.#url, `${missing.join(', ')} missing`);
    }
  }
}
