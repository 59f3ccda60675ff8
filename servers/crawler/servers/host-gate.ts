import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from './host-addresses.js';

interface Gate {
  /** Requests under way. */
  busy: number;
  /** When the last one ended, milliseconds since 1970. */
  lastEnd: number;
  /** Before this nobody but a guest may come. */
  notBefore: number;
  readonly waiting: (() => void)[];
}

/** Hosts whose last contact is remembered; those that nobody uses go first. */
const MAX_GATES = 100_000;

/**
 * The doors of the hosts. A queue's lock keeps its own URIs apart (CRAWL-5.6.4); a robots.txt that has moved leads to a host whose
 * queue knows nothing of it. Such a guest waits until nobody else is there and the pause is over, and leaves a pause behind it: so
 * no host ever sees two connections, nor a request before its time.
 */
export class HostGate {
  readonly #gates = new Map<string, Gate>();

  /** Runs `work` for one of the host's own queues: it waits only while a guest is there, or its pause lasts. */
  async pass<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const gate = this.#gate(host);
    if (gate.notBefore > Date.now()) await this.#until(gate, signal, () => gate.notBefore - Date.now());
    gate.busy++;
    try {
      return await work();
    } finally {
      gate.busy--;
      gate.lastEnd = Date.now();
      for (const wake of gate.waiting.splice(0)) wake();
    }
  }

  /** Runs `work` as a guest: alone at the host, `delayMs` after the contact before, and with the same pause after it. */
  async visit<T>(host: string, delayMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const gate = this.#gate(host);
    for (;;) {
      await this.#until(gate, signal, () => gate.lastEnd + delayMs - Date.now());
      if (gate.busy === 0) break;
      await unlessAborted(new Promise<void>((resolve) => gate.waiting.push(resolve)), signal);
    }
    gate.busy++;
    gate.notBefore = Number.POSITIVE_INFINITY;
    try {
      return await work();
    } finally {
      gate.busy--;
      gate.lastEnd = Date.now();
      gate.notBefore = gate.lastEnd + delayMs;
      for (const wake of gate.waiting.splice(0)) wake();
    }
  }

  async #until(gate: Gate, signal: AbortSignal, left: () => number): Promise<void> {
    for (let wait = left(); wait > 0; wait = left()) {
      if (Number.isFinite(wait)) await sleep(Math.ceil(wait), undefined, { signal });
      else await unlessAborted(new Promise<void>((resolve) => gate.waiting.push(resolve)), signal);
    }
  }

  #gate(host: string): Gate {
    let gate = this.#gates.get(host);
    if (gate === undefined) {
      if (this.#gates.size >= MAX_GATES) this.#forget();
      gate = { busy: 0, lastEnd: 0, notBefore: 0, waiting: [] };
      this.#gates.set(host, gate);
    }
    return gate;
  }

  #forget(): void {
    for (const [host, gate] of this.#gates) {
      if (gate.busy > 0 || gate.waiting.length > 0 || gate.notBefore > Date.now()) continue;
      this.#gates.delete(host);
      if (this.#gates.size < MAX_GATES / 2) return;
    }
  }
}
