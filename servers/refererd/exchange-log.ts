import { LEVEL, type RefererLog, withoutPasswords } from './log.js';

/** Longest line that is shown; what is behind is left out. */
const MAX_LINE = 1024;

/** R-66, level 80: what one peer sends, line by line, with the values of authorizations taken out. */
export class ExchangeLog {
  #line = '';

  constructor(
    private readonly log: RefererLog,
    private readonly peer: string,
  ) {}

  received(bytes: Uint8Array): void {
    const lines = (this.#line + Buffer.from(bytes).toString('latin1')).split('\n');
    // A line without an end is kept up to what will be shown of it, and a little more: it may be a secret's beginning.
    this.#line = (lines.pop() ?? '').slice(0, 2 * MAX_LINE);
    for (const line of lines) this.#show('<', line);
  }

  sent(bytes: Uint8Array): void {
    for (const line of Buffer.from(bytes).toString('latin1').trimEnd().split('\n')) this.#show('>', line);
  }

  #show(direction: '<' | '>', line: string): void {
    const shown = withoutPasswords(line.trimEnd())
      .replace(/^([^:]*AUTHORIZATION\s*:).*$/i, '$1 [redacted]')
      .slice(0, MAX_LINE);
    this.log.write(LEVEL.protocol, `${this.peer} ${direction} ${shown}`);
  }
}
