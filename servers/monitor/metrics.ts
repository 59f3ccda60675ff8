// The figures of servers and of the process in the text format of Prometheus.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Figure, MonitoredServer, Reading } from './figures.js';

/** Metrics of servers that run in this process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #servers: readonly MonitoredServer[];

  constructor(servers: readonly MonitoredServer[]) {
    this.#servers = servers;
    // Processor time, memory, handles, event loop, garbage collections.
    collectDefaultMetrics({ register: this.#registry });
    for (const server of servers) for (const figure of server.figures) this.#add(figure);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const texts = this.#servers.flatMap(({ text }) => text?.() ?? []);
    return `${await this.#registry.metrics()}${texts.join('')}`;
  }

  #add({ name, kind, help, label, read }: Figure): void {
    const options = {
      name: `harvest_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.#registry],
    };
    if (kind === 'gauge') {
      new Gauge({
        ...options,
        async collect() {
          this.reset();
          for (const [value, count] of valuesOf(await read())) this.set(labelsOf(label, value), count);
        },
      });
      return;
    }
    new Counter({
      ...options,
      async collect() {
        this.reset();
        for (const [value, count] of valuesOf(await read())) this.inc(labelsOf(label, value), count);
      },
    });
  }
}

function valuesOf(reading: Reading): Iterable<readonly [label: string, value: number]> {
  if (reading === undefined) return [];
  return typeof reading === 'number' ? [['', reading]] : reading;
}

function labelsOf(label: string | undefined, value: string): Record<string, string> {
  return label === undefined ? {} : { [label]: value };
}
