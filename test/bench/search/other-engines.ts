// The search engines that are compared with the kit's.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { type BenchCorpus, readBenchDocument } from './corpus.js';
import { bytesOf, type Engine } from './engine.js';
import { type BenchQuery, COMPARABLE_KINDS, QUERY_KINDS, type QueryKind, type Term } from './queries.js';

const TOP = 10;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * SQLite FTS5 as its manual introduces it: a table that contains the text, one transaction, `ORDER BY rank`.
 */
export class PlainFts5 implements Engine {
  readonly label = 'FTS5';
  readonly kinds: ReadonlySet<QueryKind> = new Set<QueryKind>([...COMPARABLE_KINDS, 'phrase', 'attribute']);
  readonly process = false;
  readonly #directory: string;
  readonly #corpus: BenchCorpus;
  readonly #db: Database.Database;

  constructor(directory: string, corpus: BenchCorpus) {
    this.#directory = directory;
    this.#corpus = corpus;
    this.#db = new Database(join(directory, 'fts5.db'));
  }

  async build(): Promise<void> {
    this.#db.exec('PRAGMA journal_mode = WAL');
    this.#db.exec(
      `CREATE VIRTUAL TABLE t USING fts5(url, title, body, tokenize="unicode61 remove_diacritics 0 tokenchars '_'")`,
    );
    const insert = this.#db.prepare('INSERT INTO t(rowid, url, title, body) VALUES(?, ?, ?, ?)');
    this.#db.exec('BEGIN');
    for (let id = 1; id <= this.#corpus.documents; id++) {
      const { url, title, body } = readBenchDocument(this.#corpus, id);
      insert.run(id, url, title, body);
    }
    this.#db.exec('COMMIT');
  }

  size(): number {
    return bytesOf(this.#directory, /^fts5\.db/);
  }

  async top(query: BenchQuery): Promise<number> {
    return this.#db.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10').all(matchOf(query))
      .length;
  }

  async count(query: BenchQuery): Promise<number> {
    return this.#db.prepare('SELECT rowid FROM t WHERE t MATCH ?').all(matchOf(query)).length;
  }

  /** Returns every word that starts with a letter. */
  vocabulary(): Term[] {
    this.#db.exec('CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, t, row)');
    return this.#db
      .prepare("SELECT term, doc AS documents FROM temp.v WHERE term >= 'a' AND term < '{'")
      .all() as Term[];
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}

function matchOf({ kind, words }: BenchQuery): string {
  const [first, second] = words.map((word) => `"${word}"`);
  switch (kind) {
    case 'and':
    case 'or':
    case 'not':
      return `${first} ${kind.toUpperCase()} ${second}`;
    case 'phrase':
      return `"${words.join(' ')}"`;
    case 'attribute':
      return `title : ${first}`;
    default:
      return first!;
  }
}

/** glimpse with a small (`-o`) or medium (`-b`) index over the text files. */
export class Glimpse implements Engine {
  readonly label: string;
  readonly kinds: ReadonlySet<QueryKind> = new Set(QUERY_KINDS.filter((kind) => kind !== 'attribute'));
  readonly process = true;
  readonly #directory: string;
  readonly #corpus: BenchCorpus;
  readonly #size: '-o' | '-b';

  constructor(directory: string, corpus: BenchCorpus, size: '-o' | '-b') {
    this.label = `glimpse ${size}`;
    this.#directory = join(directory, `glimpse${size}`);
    this.#corpus = corpus;
    this.#size = size;
    mkdirSync(this.#directory);
  }

  async build(): Promise<void> {
    const args = ['-H', this.#directory, this.#size, '-M', '256', join(this.#corpus.directory, 'text')];
    execFileSync('glimpseindex', args, { stdio: 'ignore' });
  }

  size(): number {
    return bytesOf(this.#directory, /^\.glimpse_/);
  }

  async top(query: BenchQuery): Promise<number> {
    return this.#run(query, ['-L', `0:${TOP}`]);
  }

  async count(query: BenchQuery): Promise<number> {
    return this.#run(query, []);
  }

  async close(): Promise<void> {}

  #run(query: BenchQuery, limits: readonly string[]): number {
    const args = ['-H', this.#directory, '-y', '-i', '-l', ...limits, ...glimpseArguments(query)];
    return countLines('glimpse', args);
  }
}

function glimpseArguments({ kind, words }: BenchQuery): string[] {
  const [first, second] = words;
  switch (kind) {
    case 'and':
      return ['-w', '-W', `${first};${second}`];
    case 'or':
      return ['-w', '-W', `${first},${second}`];
    case 'not':
      return ['-w', '-W', `${first};~${second}`];
    case 'phrase':
      return ['-w', `${first} ${second}`];
    case 'error':
      return ['-1', first!];
    case 'part':
    case 'regexp':
      return [first!];
    default:
      return ['-w', first!];
  }
}

/** swish-e over the text files. */
export class SwishE implements Engine {
  readonly label = 'swish-e';
  readonly kinds: ReadonlySet<QueryKind> = new Set<QueryKind>([...COMPARABLE_KINDS, 'phrase']);
  readonly process = true;
  readonly #directory: string;
  readonly #corpus: BenchCorpus;

  constructor(directory: string, corpus: BenchCorpus) {
    this.#directory = directory;
    this.#corpus = corpus;
  }

  async build(): Promise<void> {
    const conf = join(this.#directory, 'swish.conf');
    const lines = [
      `IndexDir ${join(this.#corpus.directory, 'text')}`,
      `IndexFile ${join(this.#directory, 'swish.index')}`,
      'IndexOnly .txt',
      'DefaultContents TXT2',
      'IndexReport 0',
    ];
    writeFileSync(conf, `${lines.join('\n')}\n`);
    execFileSync('swish-e', ['-c', conf], { stdio: 'ignore' });
  }

  size(): number {
    return bytesOf(this.#directory, /^swish\.index/);
  }

  async top(query: BenchQuery): Promise<number> {
    return this.#run(query, ['-m', String(TOP)]);
  }

  async count(query: BenchQuery): Promise<number> {
    return this.#run(query, []);
  }

  async close(): Promise<void> {}

  #run({ kind, words }: BenchQuery, limits: readonly string[]): number {
    const [first, second] = words;
    const hasOperator = kind === 'and' || kind === 'or' || kind === 'not';
    const text =
      kind === 'phrase' ? `"${first} ${second}"` : hasOperator ? `${first} ${kind} ${second}` : first!;
    const index = join(this.#directory, 'swish.index');
    return countLines('swish-e', ['-f', index, '-H', '0', '-x', '%p\\n', ...limits, '-w', text], /^[^.#e]/);
  }
}

/** Counts the matching lines of a program's output. An exit status that reports no match is not an error. */
function countLines(program: string, args: readonly string[], pattern = /./): number {
  const { stdout, error } = spawnSync(program, args, {
    encoding: 'latin1',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error !== undefined) throw error;
  return stdout.split('\n').filter((line) => pattern.test(line)).length;
}

/** Whether a program is installed. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['-V'], { stdio: 'ignore' }).error === undefined;
}
