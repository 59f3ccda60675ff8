// State machines as tables: sessions and decoders run on them, and the specifications show them.
import { StateError } from './errors.js';

/** A transition. Its texts are Markdown: they are the cells of a row in the specification. */
export interface Transition<State extends string> {
  /** What happens: bytes of the peer, a call of the owner, a limit. */
  readonly input: string;
  /** What the machine returns or does; empty for nothing. */
  readonly output: string;
  readonly next: State;
}

/** State -> event -> transition. An event that a state lacks is not possible in it. */
export type StateTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, Transition<State>>>>>
>;

/** Makes a transition. */
export function to<State extends string>(next: State, input: string, output = ''): Transition<State> {
  return { input, output, next };
}

/** A state that changes only by the transitions of a table. */
export class StateMachine<State extends string, Event extends string> {
  readonly #table: StateTable<State, Event>;
  #state: State;
  /** That of the state: most transitions stay in it. */
  #row: StateTable<State, Event>[State];

  constructor(table: StateTable<State, Event>, start: State) {
    this.#table = table;
    this.#state = start;
    this.#row = table[start];
  }

  get state(): State {
    return this.#state;
  }

  /** Goes to the next state. @throws StateError when the table does not allow the event in this state */
  step(event: Event): void {
    const transition = this.#row[event];
    if (transition === undefined)
      throw new StateError(`"${event}" is not possible in state "${this.#state}"`);
    const { next } = transition;
    if (next === this.#state) return;
    this.#state = next;
    this.#row = this.#table[next];
  }
}
