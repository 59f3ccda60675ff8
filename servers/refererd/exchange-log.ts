// Logs the lines that are exchanged with a peer.
import { LEVEL } from './level.js';
import { type PeerLines, withoutPasswords } from './log.js';

/** Characters of a line that are logged. */
const MAX_LINE_LENGTH = 1024;

/** R-66, level 80: logs the exchange with one peer by lines, without the values of authorizations. */
export class ExchangeLog {
  #line = '';
  readonly #log: PeerLines;

  constructor(log: PeerLines) {
    this.#log = log;
  }

  received(bytes: Uint8Array): void {
    const lines = (this.#line + Buffer.from(bytes).toString('latin1')).split('\n');
    // An incomplete line is kept up to twice the logged length, because the rest of a secret may follow.
    this.#line = (lines.pop() ?? '').slice(0, 2 * MAX_LINE_LENGTH);
    for (const line of lines) this.#show('<', line);
  }

  sent(bytes: Uint8Array): void {
    for (const line of Buffer.from(bytes).toString('latin1').trimEnd().split('\n')) this.#show('>', line);
  }

  #show(direction: '<' | '>', line: string): void {
    const shown = withoutPasswords(line.trimEnd())
      .replace(/^([^:]*AUTHORIZATION\s*:).*$/i, '$1 [redacted]')
      .slice(0, MAX_LINE_LENGTH);
    this.#log.write(LEVEL.protocol, `${direction} ${shown}`);
  }
}
