// Extracts the text of real documents, so that every search engine indexes the same text.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Parser } from 'htmlparser2';
import { encodeSoif, SoifObject } from '../../../protocols/soif/index.js';

/** One document, equal for every engine. */
export interface BenchDocument {
  /** Its number, from 1; also its rowid and, in a new store, its OID. */
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly body: string;
}

/** Text of real documents as files: `DIRECTORY/000/000001.txt`; the title is the first line. */
export interface BenchCorpus {
  readonly directory: string;
  readonly documents: number;
  /** Bytes of extracted text. */
  readonly bytes: number;
}

/** Elements that end a line, and elements whose content is not text. */
const BLOCKS = /^(?:p|div|br|li|tr|dt|dd|pre|h[1-6]|title|table|ul|ol|dl|section|article|blockquote|hr)$/;
const SKIPPED = /^(?:script|style|template|svg)$/;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Extracts up to `limit` documents below `roots` (HTML and plain text, in the order of their paths, spread over
 * all of them) into `directory`; a directory with the same selection is reused. Duplicates are skipped, because
 * a Broker stores each content once.
 */
export function extractCorpus(roots: readonly string[], directory: string, limit: number): BenchCorpus {
  const descriptionFile = join(directory, 'corpus.json');
  const selection = { roots, limit };
  if (existsSync(descriptionFile)) {
    const existing = JSON.parse(readFileSync(descriptionFile, 'utf8')) as BenchCorpus & {
      readonly selection: unknown;
    };
    if (JSON.stringify(existing.selection) === JSON.stringify(selection)) return { ...existing, directory };
  }
  const files = roots.flatMap((root) => textFiles(root));
  if (files.length === 0) throw new Error(`no HTML or text files below ${roots.join(', ')}`);
  const step = Math.max(1, files.length / limit);
  const seen = new Set<string>();
  let documents = 0;
  let bytes = 0;
  for (let position = 0; position < files.length && documents < limit; position += step) {
    const file = files[Math.floor(position)]!;
    const text = readDocument(file);
    const digest = createHash('md5').update(text).digest('base64');
    if (seen.has(digest)) continue;
    seen.add(digest);
    documents++;
    const path = pathOf(directory, documents);
    if (documents === 1 || documents % 1000 === 0) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    bytes += Buffer.byteLength(text);
  }
  const corpus = { documents, bytes };
  writeFileSync(descriptionFile, JSON.stringify({ selection, ...corpus }));
  return { ...corpus, directory };
}

function pathOf(directory: string, id: number): string {
  return join(
    directory,
    'text',
    String(Math.floor(id / 1000)).padStart(3, '0'),
    `${String(id).padStart(6, '0')}.txt`,
  );
}

/** Reads a document of the corpus. */
export function readBenchDocument(corpus: BenchCorpus, id: number): BenchDocument {
  const text = readFileSync(pathOf(corpus.directory, id), 'utf8');
  const end = text.indexOf('\n');
  return { id, url: `http://docs.example.org/${id}`, title: text.slice(0, end), body: text.slice(end + 1) };
}

/** The document as a Gatherer exports it to a Broker. */
export function soifOf(
  { url, title, body }: BenchDocument,
  updateTime: number,
  timeToLive = 2_419_200,
): { object: SoifObject; bytes: Uint8Array } {
  const object = SoifObject.of('FILE', url, [
    ['Time-to-Live', String(timeToLive)],
    ['Last-Modification-Time', String(updateTime)],
    ['Refresh-Rate', '604800'],
    ['Gatherer-Name', '@'],
    ['Gatherer-Host', '@'],
    ['Gatherer-Version', '@'],
    ['Update-Time', String(updateTime)],
    ['MD5', createHash('md5').update(url).digest('hex')],
    ['title', title],
    ['body', body],
  ]);
  return { object, bytes: encodeSoif(object) };
}

function textFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:html?|txt)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size <= MAX_FILE_BYTES)
    .sort();
}

function readDocument(file: string): string {
  const source = readFileSync(file, 'utf8');
  const text = file.endsWith('.txt') ? `${file.split('/').at(-1)}\n${source}` : textOfHtml(source);
  return text.replaceAll('\r', '').replaceAll('\0', '');
}

/** Returns the title, then the visible text with one line for each block. */
function textOfHtml(source: string): string {
  let title = '';
  const body: string[] = [];
  let skipped = 0;
  let inTitle = false;
  const parser = new Parser({
    onopentagname(name) {
      if (SKIPPED.test(name)) skipped++;
      if (name === 'title') inTitle = true;
      if (BLOCKS.test(name)) body.push('\n');
    },
    onclosetag(name) {
      if (SKIPPED.test(name)) skipped--;
      if (name === 'title') inTitle = false;
      if (BLOCKS.test(name)) body.push('\n');
    },
    ontext(text) {
      if (skipped > 0) return;
      if (inTitle) title += text;
      else body.push(text);
    },
  });
  parser.end(source);
  const lines = body
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  return `${title.replaceAll(/\s+/g, ' ').trim() || 'untitled'}\n${lines.join('\n')}\n`;
}
