// Checks the values of attributes.
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
export class ValueChecker {
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
