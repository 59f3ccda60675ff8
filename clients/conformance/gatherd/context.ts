import { type ConformanceCase, NotApplicable } from '../case.js';
import type { Target } from '../target.js';
import { Transcript } from '../transcript.js';
import { Wire } from '../wire.js';
import { type Survey, Surveyor } from './survey.js';
import { readUpdate } from './transfer.js';

export type GatherdCase = ConformanceCase<GatherdContext>;

/** A time stamp after every Update-Time there is (year 2286). */
export const FAR_FUTURE = 9_999_999_999;

/** What the cases of a run share. */
export interface SharedFacts {
  readonly target: Target;
  /** Milliseconds to wait for a byte. */
  readonly idleMs: number;
  /** `failed`: the full transfer was tried and did not work. */
  survey: Survey | 'failed' | undefined;
}

/** What a case works with. Its connections are dropped when it ends. */
export class GatherdContext implements AsyncDisposable {
  readonly #shared: SharedFacts;
  readonly #signal: AbortSignal;
  readonly #wires: Wire[] = [];
  readonly #abort = () => void this.close();
  readonly transcript: Transcript;

  constructor(shared: SharedFacts, transcript: Transcript, signal: AbortSignal) {
    this.#shared = shared;
    this.transcript = transcript;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** A new connection, nothing read. @param recorded false: the report does not show it */
  async connect(recorded = true): Promise<Wire> {
    const transcript = recorded ? this.transcript : new Transcript(this.transcript);
    const { target, idleMs } = this.#shared;
    const wire = await Wire.open(target, { transcript, signal: this.#signal, idleMs });
    this.#wires.push(wire);
    return wire;
  }

  /** A new connection, the greeting read. */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(0, 'the connection');
    return wire;
  }

  /** A session in which compression is on. @throws NotApplicable the server has none (GATHERD-6.9) */
  async compressedSession(): Promise<Wire> {
    const wire = await this.session();
    await this.set(wire, 'compression');
    return wire;
  }

  /** Switches something on. @throws NotApplicable the server answers something else than 500 */
  async set(wire: Wire, what: 'compression' | 'changes'): Promise<void> {
    await wire.send(`SET ${what}\n`);
    const { code, line } = await wire.status();
    if (code !== 500) throw new NotApplicable(`the server refuses SET ${what}: ${line}`);
  }

  /** The first full transfer of the run. @throws NotApplicable it failed, and another case says so */
  async survey(): Promise<Survey> {
    const { survey } = this.#shared;
    if (survey === 'failed')
      throw new NotApplicable('the full transfer does not work: see update/everything');
    if (survey !== undefined) {
      this.transcript.note('judged by the full transfer of the run');
      return survey;
    }
    this.#shared.survey = 'failed';
    const wire = await this.session();
    await wire.send('SEND-UPDATE 0\n');
    const surveyor = new Surveyor();
    const transfer = await readUpdate(wire, 'SEND-UPDATE 0', (object) => surveyor.add(object));
    await wire.close();
    const taken = surveyor.survey(transfer);
    this.#shared.survey = taken;
    return taken;
  }

  /** The survey of a database with at least so many objects. @throws NotApplicable there are fewer */
  async surveyWith(objects: number): Promise<Survey> {
    const survey = await this.survey();
    if (survey.transfer.objects >= objects) return survey;
    throw new NotApplicable(`needs ${objects} objects, the database has ${survey.transfer.objects}`);
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    await Promise.all(this.#wires.map((wire) => wire.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
