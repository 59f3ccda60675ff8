import { type Answer, answer, html } from './answers.js';

/** Minimum and maximum number of requests of a path. */
export type Times = readonly [least: number, most: number];

/** One site: its answers, and the requests that a polite crawler must and must not send. */
export interface Site {
  readonly index: number;
  readonly kind: string;
  /** `127.x.y.z` */
  readonly address: string;
  /** Answers by path with query; the n-th request gets the n-th answer, later ones the last. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  /** Answers of generated paths without end; undefined: 404. */
  readonly trap: ((path: string) => Answer | undefined) | undefined;
  readonly expected: Expectation;
}

/** The expected log of a site after a crawl. */
interface Expectation {
  /** Number of requests by path; other requested paths must belong to a trap. */
  readonly times: ReadonlyMap<string, Times>;
  /** Paths that must never be requested. */
  readonly forbidden: ReadonlySet<string>;
  /** Total number of requests, without robots.txt. */
  readonly most: number;
  /** Milliseconds between requests by robots.txt. */
  readonly crawlDelayMs: number;
  /** Options after the URL in a Gatherer's configuration. */
  readonly rootSpec: string;
}

/** The web as a whole. */
export interface WebOptions {
  /** Default 1. */
  readonly seed: number;
  /** 1 to 60 000. */
  readonly sites: number;
  /** Of every address. */
  readonly port: number;
  /** Maximum number of attempts of a crawler for one URI, including robots.txt. */
  readonly tries: number;
}

/** URL-Max of every RootNode, which ends the traps. */
const URL_MAX = 40;

/** 127.1.0.1 and up: never the usual 127.0.0.1. */
export function addressOf(index: number): string {
  return `127.${1 + Math.floor(index / 50_000)}.${Math.floor(index / 200) % 250}.${1 + (index % 200)}`;
}

/** Builder of a site, used by the kinds. */
export class SiteBuilder {
  readonly #answers = new Map<string, readonly Answer[]>();
  readonly #times = new Map<string, Times>();
  readonly #forbidden = new Set<string>();
  readonly #links: string[] = [];
  readonly #random: () => number;
  trap: ((path: string) => Answer | undefined) | undefined;
  crawlDelayMs = 0;
  hostMax = 1;
  /** False: the kind defines the front page itself. */
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

  /** Of another site of this web. */
  originOf(index: number): string {
    return `http://${addressOf(index)}:${this.options.port}`;
  }

  /** 0 to `below` - 1, the same for the same seed. */
  random(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** Answers of robots.txt; requested once unless `times` differs. */
  robots(answers: Answer | readonly Answer[], times: Times = [1, 1]): void {
    this.page('/robots.txt', answers, times);
  }

  /** A path with its answers and its number of requests, by default exactly one. */
  page(path: string, answers: Answer | readonly Answer[], times: Times = [1, 1]): void {
    this.#answers.set(path, 'status' in answers ? [answers] : answers);
    this.#times.set(path, times);
  }

  /** The same, linked from the front page. */
  linked(path: string, answers: Answer | readonly Answer[], times?: Times): void {
    this.page(path, answers, times);
    this.link(path);
  }

  /** A path that must never be requested, although it answers. */
  forbidden(path: string): void {
    this.#answers.set(path, [html('forbidden', [])]);
    this.#forbidden.add(path);
  }

  /** A link of the front page. */
  link(href: string): void {
    this.#links.push(href);
  }

  /**
   * A small web of `count` pages: a tree, so that all can be reached, and links across it in every spelling that means the
   * same URL.
   */
  web(count = 4 + this.random(4), times?: Times): void {
    const paths = Array.from({ length: count }, (_, k) => pathOf(k));
    paths.forEach((path, k) => {
      const children = [3 * k + 3, 3 * k + 4, 3 * k + 5].flatMap((child) => paths[child] ?? []);
      const across = [paths[this.random(count)]!, '/'].map((target) => this.#spell(target));
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
        most: trap === undefined ? Number.POSITIVE_INFINITY : URL_MAX,
        crawlDelayMs,
        rootSpec: `URL=${URL_MAX} Host=${hostMax}`,
      },
    };
  }

  #spell(path: string): string {
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

/** Places of the kinds that URLs have. */
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

/** A small generator of equally spread numbers, 0 up to 1. */
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
