// One site of the web that the server imitates: its answers, and the requests that a polite crawler sends to
// it.
import { type Answer, answer, html } from './answers.js';

/** Minimum and maximum number of requests for a path. */
export type Times = readonly [min: number, max: number];

/** One site: its answers, and the requests that a polite crawler must and must not send. */
export interface Site {
  readonly index: number;
  /** Name in one of the tables of kinds. */
  readonly kind: string;
  /** `127.x.y.z` */
  readonly address: string;
  /** Answers by path with query; the n-th request gets the n-th answer, later ones the last. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  /** Answers endlessly many generated paths; undefined: 404. */
  readonly trap: ((path: string) => Answer | undefined) | undefined;
  readonly expected: Expectation;
}

/** What the log must show of a site after a crawl. */
interface Expectation {
  /** Number of requests by path; every other requested path must belong to the trap. */
  readonly times: ReadonlyMap<string, Times>;
  /** Paths that must never be requested. */
  readonly forbidden: ReadonlySet<string>;
  /** Maximum total number of requests, without robots.txt. */
  readonly maxRequests: number;
  /** The Crawl-delay of robots.txt; 0 without one. */
  readonly crawlDelayMs: number;
  /** Options after the URL in a Gatherer's configuration. */
  readonly rootSpec: string;
}

/** The parameters that determine the web. */
export interface WebOptions {
  /** Default 1. */
  readonly seed: number;
  /** 1 to 60 000. */
  readonly sites: number;
  /** The port of every address. */
  readonly port: number;
  /** Maximum number of attempts of the crawler for one URI, including robots.txt. */
  readonly maxAttempts: number;
}

/** URL-Max of every RootNode, which ends the traps. */
const URL_MAX = 40;

/** The address of a site: 127.1.0.1 and up, never 127.0.0.1. */
export function addressOf(index: number): string {
  return `127.${1 + Math.floor(index / 50_000)}.${Math.floor(index / 200) % 250}.${1 + (index % 200)}`;
}

/** Builds a site; each kind calls its methods. */
export class SiteBuilder {
  readonly #answers = new Map<string, readonly Answer[]>();
  readonly #times = new Map<string, Times>();
  readonly #forbidden = new Set<string>();
  readonly #links: string[] = [];
  readonly #random: () => number;
  trap: ((path: string) => Answer | undefined) | undefined;
  crawlDelayMs = 0;
  hostMax = 1;
  /** False if the kind defines the front page itself. */
  frontPage = true;
  frontTimes: Times = [1, 1];

  constructor(
    readonly options: WebOptions,
    readonly index: number,
  ) {
    this.#random = mulberry32(options.seed * 1_000_003 + index);
    this.robots(answer({ status: 404, body: 'none' }));
  }

  get origin(): string {
    return `http://${addressOf(this.index)}:${this.options.port}`;
  }

  /** The number of requests for a page that may fail: 1 up to the maximum number of attempts. */
  get retryTimes(): Times {
    return [1, this.options.maxAttempts];
  }

  /** The origin of another site of this web. */
  originOf(index: number): string {
    return `http://${addressOf(index)}:${this.options.port}`;
  }

  /** Returns a number from 0 to `below` - 1, equal for equal seeds. */
  random(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** Defines the answers of robots.txt, requested once by default. */
  robots(answers: Answer | readonly Answer[], times: Times = [1, 1]): void {
    this.page('/robots.txt', answers, times);
  }

  /** Defines a page with its answers and its number of requests, exactly one by default. */
  page(path: string, answers: Answer | readonly Answer[], times: Times = [1, 1]): void {
    this.#answers.set(path, 'status' in answers ? [answers] : answers);
    this.#times.set(path, times);
  }

  /** Defines a page and links to it from the front page. */
  linked(path: string, answers: Answer | readonly Answer[], times?: Times): void {
    this.page(path, answers, times);
    this.link(path);
  }

  /** Defines a page that answers but must never be requested. */
  forbidden(path: string): void {
    this.#answers.set(path, [html('forbidden', [])]);
    this.#forbidden.add(path);
  }

  /** Adds a link to the front page. */
  link(href: string): void {
    this.#links.push(href);
  }

  /**
   * Defines a small web of `count` pages: a tree, so that all can be reached, with links across it in every
   * spelling that means the same URL.
   */
  web(count = 4 + this.random(4), times?: Times): void {
    const paths = Array.from({ length: count }, (_, k) => pathOf(k));
    paths.forEach((path, k) => {
      const children = [3 * k + 3, 3 * k + 4, 3 * k + 5].flatMap((child) => paths[child] ?? []);
      const across = [paths[this.random(count)]!, '/'].map((target) => this.#varySpelling(target));
      this.page(path, html(`page ${k}`, [...children, ...across]), times);
    });
    for (const path of paths.slice(0, 3)) this.link(path);
  }

  build(kind: string): Site {
    const { index, trap, crawlDelayMs, hostMax } = this;
    if (this.frontPage) this.page('/', html(`site ${index}, ${kind}`, this.#links), this.frontTimes);
    return {
      index,
      kind,
      address: addressOf(index),
      answers: this.#answers,
      trap,
      expected: {
        times: this.#times,
        forbidden: this.#forbidden,
        maxRequests: trap === undefined ? Number.POSITIVE_INFINITY : URL_MAX,
        crawlDelayMs,
        rootSpec: `URL=${URL_MAX} Host=${hostMax}`,
      },
    };
  }

  #varySpelling(path: string): string {
    switch (this.random(6)) {
      case 0:
        return `${this.origin}${path}`;
      case 1:
        return `${path}#part-${this.random(9)}`;
      case 2:
        return `/nowhere/..${path}`;
      case 3:
        return `//${addressOf(this.index)}:${this.options.port}${path}`;
      case 4:
        return `  ${path} `;
      default:
        return path;
    }
  }
}

/** The path of page `k`, in one of the forms that paths have. */
function pathOf(k: number): string {
  const names = [
    `/page-${k}.html`,
    `/folder/page-${k}.html`,
    `/folder/deep/er/page-${k}.html`,
    `/list?item=${k}&order=up`,
    `/%7euser/page-${k}.html`,
    `/caf%C3%A9/page-${k}.html`,
  ];
  return names[k % names.length]!;
}

/** The mulberry32 generator: uniformly distributed numbers from 0 to below 1. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296;
  };
}
