// Checks type, URL and attribute names of an object.
import type { Findings } from './findings.js';
import { ValueChecker } from './value-checker.js';

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
