// The beginning of a connection: the choice between SSTP and HTTP.
import { asciiBytes, LF } from '../ascii.js';
import { StateMachine } from '../state-machine.js';
import { CODES, VERSION_PREFIX } from './registry.js';
import { CHOICE_STATES, type ChoiceState } from './states.js';

/** S-47: for `neither`, the server sends `SSTP/1.0 400 BAD REQUEST` and closes. */
export type ProtocolChoice = 'sstp' | 'http' | 'neither' | 'undecided';

/** Octets of the longest first line that can be a request line of HTTP. */
export const MAX_CHOICE_BYTES = 8192;

const PREFIX = asciiBytes(VERSION_PREFIX);
/** S-47: the beginnings of a request line: a method of at most 32 octets, a blank, no control octets. */
const REQUEST_START = /^[!#$%&'*+.^`|~\w-]{1,32}(?: [^\0-\x1f\x7f]*)?$/;
const REQUEST_LINE = /^\S+ [^ ]+ HTTP\/\d\.\d$/;

/**
 * Chooses a protocol by the first octets of a connection (S-47, S-48): `undecided` while too few have arrived.
 * @param octets all octets so far; the caller passes them on to the chosen protocol
 */
export function chooseProtocol(octets: Uint8Array): ProtocolChoice {
  const compared = Math.min(octets.length, PREFIX.length);
  let same = 0;
  while (same < compared && octets[same] === PREFIX[same]) same++;
  if (same === PREFIX.length) return 'sstp';
  if (same === octets.length) return 'undecided';
  const lf = octets.indexOf(LF);
  const end = lf < 0 ? octets.length : lf;
  const length = Math.min(end, MAX_CHOICE_BYTES);
  const line = Buffer.from(octets.buffer, octets.byteOffset, length).toString('latin1').replace(/\r$/, '');
  // Garbage may never have an LF, so decide now if this cannot become a method and a target.
  if (!REQUEST_START.test(line)) return 'neither';
  if (lf >= 0 && lf <= MAX_CHOICE_BYTES) return REQUEST_LINE.test(line) ? 'http' : 'neither';
  return octets.length > MAX_CHOICE_BYTES ? 'neither' : 'undecided';
}

const NOTHING: Uint8Array = new Uint8Array(0);

/**
 * The server's end of a connection until its protocol is chosen (S-47) and its host is admitted (S-44): push what
 * arrives; in state `SSTP` or `HTTP` call {@link admit}, then pass on what {@link take} returns. In state `refused` send
 * {@link refusal}.
 */
export class ProtocolChooser {
  readonly #machine = new StateMachine(CHOICE_STATES, 'choosing');
  #octets = NOTHING;
  #refusal: number | undefined;

  get state(): ChoiceState {
    return this.#machine.state;
  }

  /** The code of the reply after which the server closes. */
  get refusal(): number | undefined {
    return this.#refusal;
  }

  /** @throws StateError after the choice and {@link admit} */
  push(chunk: Uint8Array): void {
    this.#octets = this.#octets.length === 0 ? chunk : Buffer.concat([this.#octets, chunk]);
    if (this.state !== 'choosing') this.#machine.step('more');
    else this.#choose(chooseProtocol(this.#octets));
  }

  /** The peer closed its side: octets that are undecided then are of neither protocol. @throws as {@link push} */
  end(): void {
    if (this.state !== 'choosing') this.#machine.step('more');
    else if (this.#octets.length === 0) this.#machine.step('nothing');
    else this.#choose('neither');
  }

  /** Whether the host is allowed is known. @throws StateError unless the state is `SSTP` or `HTTP` */
  admit(allowed: boolean): void {
    if (this.state === 'HTTP') this.#machine.step('decided');
    else this.#machine.step(allowed ? 'admitted' : 'forbidden');
    if (this.state === 'refused') this.#refusal = CODES.forbidden.number;
  }

  /** Hands over all octets so far, which the chosen protocol reads first. */
  take(): Uint8Array {
    const octets = this.#octets;
    this.#octets = NOTHING;
    return octets;
  }

  #choose(choice: ProtocolChoice): void {
    this.#machine.step(choice);
    if (choice === 'neither') this.#refusal = CODES.badRequest.number;
  }
}
