// The corpus of the benchmark `summaries`: documents of known text, title, author, date and language in many
// formats, and files of this machine whose text another program prints.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { oracleText, sampleEvenly, TEXT_ORACLES } from '../../helpers/text-oracles.js';
import { MEDIA, makeMedia } from './media.js';
import { namesInSource, SOURCE_KINDS } from './sources.js';

const execute = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A file of the corpus and what is known of it; an attribute that is absent is not measured. */
export interface CorpusFile {
  /** A line of the report. */
  readonly type: string;
  readonly path: string;
  /** The words that a reader should find. */
  readonly text?: string;
  readonly title?: string;
  readonly author?: string;
  /** YYYY-MM-DD. */
  readonly date?: string;
  /** Two letters. */
  readonly language?: string;
}

/** Who wrote the pages, for formats that have authors, and a date for those that have dates. */
const AUTHOR = 'Debian Installer Team';
const DATE = '2023-05-08';
/** Unpacked Debian package `installation-guide-amd64`: pages in languages. */
const GUIDE = 'installation-guide-amd64/usr/share/doc/installation-guide-amd64';
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'cs', 'ru', 'el', 'ja', 'zh_CN', 'ko'];
const PAGES = ['ch01s01', 'ch02s01', 'ch03s03', 'ch06s04'];

/**
 * pandoc's writers, and the suffixes of their files. Formats that have no place for it keep no author, date or
 * language.
 */
const WRITERS: readonly {
  readonly type: string;
  readonly writer: string;
  readonly suffix: string;
  readonly has: readonly ('author' | 'date' | 'language')[];
}[] = [
  { type: 'HTML', writer: 'html5', suffix: 'html', has: ['author', 'date', 'language'] },
  { type: 'Markdown', writer: 'markdown', suffix: 'md', has: ['author', 'date'] },
  { type: 'reStructuredText', writer: 'rst', suffix: 'rst', has: ['author', 'date'] },
  { type: 'AsciiDoc', writer: 'asciidoc', suffix: 'adoc', has: ['author', 'date'] },
  { type: 'Org', writer: 'org', suffix: 'org', has: ['author', 'date'] },
  { type: 'Jupyter', writer: 'ipynb', suffix: 'ipynb', has: [] },
  { type: 'DocBook', writer: 'docbook5', suffix: 'dbk', has: ['author', 'date'] },
  { type: 'JATS', writer: 'jats_archiving', suffix: 'nxml', has: ['author'] },
  { type: 'TEI', writer: 'tei', suffix: 'tei', has: ['author'] },
  { type: 'FB2', writer: 'fb2', suffix: 'fb2', has: ['author', 'language'] },
  { type: 'RTF', writer: 'rtf', suffix: 'rtf', has: [] },
  { type: 'LaTeX', writer: 'latex', suffix: 'tex', has: ['author', 'date'] },
  { type: 'Troff -ms', writer: 'ms', suffix: 'ms', has: ['author'] },
  { type: 'ManPage', writer: 'man', suffix: '7', has: ['author'] },
  { type: 'Texinfo', writer: 'texinfo', suffix: 'texi', has: ['author'] },
  { type: 'DOCX', writer: 'docx', suffix: 'docx', has: ['author'] },
  { type: 'PPTX', writer: 'pptx', suffix: 'pptx', has: ['author'] },
  { type: 'ODT', writer: 'odt', suffix: 'odt', has: ['author', 'language'] },
  { type: 'EPUB', writer: 'epub3', suffix: 'epub', has: ['author', 'date', 'language'] },
];

/** Character sets for plain texts of a language, as iconv names them. */
const CHARSETS: Readonly<Record<string, readonly string[]>> = {
  de: ['ISO-8859-1', 'UTF-16LE'],
  fr: ['WINDOWS-1252', 'MACINTOSH'],
  cs: ['ISO-8859-2', 'WINDOWS-1250'],
  ru: ['KOI8-R', 'WINDOWS-1251', 'CP866', 'ISO-8859-5', 'MAC-CYRILLIC'],
  el: ['ISO-8859-7', 'WINDOWS-1253'],
  ja: ['SHIFT_JIS', 'EUC-JP', 'ISO-2022-JP'],
  zh_CN: ['GBK', 'GB18030', 'HZ'],
  ko: ['EUC-KR', 'ISO-2022-KR'],
};

interface Source {
  readonly language: string;
  readonly name: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** How the corpus is made. */
export interface CorpusOptions {
  /** Directory with unpacked Debian packages. */
  readonly packages: string;
  /** Directory for the files that are made; it is kept, and not made again. */
  readonly directory: string;
  /** Files of one type from the machine. */
  readonly files: number;
  readonly print: (line: string) => void;
}

/**
 * Makes the corpus, or returns the one that was made before. Kinds whose program is not installed are left out
 * with a line.
 */
export async function makeCorpus(options: CorpusOptions): Promise<CorpusFile[]> {
  const manifest = join(options.directory, 'manifest.json');
  if (existsSync(manifest)) return JSON.parse(await readFile(manifest, 'utf8')) as CorpusFile[];
  await rm(options.directory, { recursive: true, force: true });
  await mkdir(options.directory, { recursive: true });
  const files: CorpusFile[] = [];
  for (const source of await readSources(options)) {
    files.push(...(await makeDocuments(source, options)));
    files.push(...(await makeTexts(source, options)));
  }
  for (const kind of MEDIA) files.push(...(await makeMedia(kind, options.directory)));
  files.push(...(await readCounterparts(options)), ...(await readSourceFiles(options)));
  await writeFile(manifest, JSON.stringify(files));
  return files;
}

async function readSources({ packages, print }: CorpusOptions): Promise<Source[]> {
  const sources: Source[] = [];
  for (const language of LANGUAGES) {
    for (const name of PAGES) {
      const page = join(packages, GUIDE, language, `${name}.html`);
      if (!existsSync(page)) {
        print(`skipped: no ${page} (Debian package installation-guide-amd64)`);
        continue;
      }
      const html = await readFile(page, 'utf8');
      const title =
        /<title>([^<]*)<\/title>/
          .exec(html)?.[1]
          ?.replace(/^[\d.\s\u00a0]+/, '')
          .trim() ?? name;
      const text = await pandoc(['-f', 'html', '-t', 'plain', '--wrap=none', page]);
      sources.push({ language, name, page, title, text });
    }
  }
  return sources;
}

async function makeDocuments(source: Source, { directory, print }: CorpusOptions): Promise<CorpusFile[]> {
  const made: CorpusFile[] = [];
  const { title, text, page } = source;
  const language = source.language.slice(0, 2);
  const metadata = [`title=${title}`, `author=${AUTHOR}`, `date=${DATE}`, `lang=${language}`].flatMap(
    (field) => ['-M', field],
  );
  for (const { type, writer, suffix, has } of WRITERS) {
    const path = join(directory, `${source.language}-${source.name}.${suffix}`);
    try {
      await pandoc(['-s', '-f', 'html', '-t', writer, ...metadata, '-o', path, page]);
    } catch (error) {
      print(`${type}: ${String(error).slice(0, 200)}`);
      continue;
    }
    made.push({
      type,
      path,
      text,
      // pandoc writes the title of RTF as a paragraph.
      ...(type === 'RTF' ? {} : { title }),
      ...(has.includes('author') ? { author: AUTHOR } : {}),
      ...(has.includes('date') ? { date: DATE } : {}),
      ...(has.includes('language') ? { language } : {}),
    });
  }
  return made;
}

/** Plain texts: in UTF-8 and other character sets, in a mail, in compressed and packed files. */
async function makeTexts(
  { language, name, title, text }: Source,
  options: CorpusOptions,
): Promise<CorpusFile[]> {
  const base = join(options.directory, `${language}-${name}`);
  const short = language.slice(0, 2);
  const made: CorpusFile[] = [];
  const add = async (type: string, path: string, bytes: Uint8Array, known: Partial<CorpusFile> = {}) => {
    await writeFile(path, bytes);
    made.push({ type, path, text, ...known });
  };
  const utf8 = Buffer.from(text);
  await add('Text', `${base}.txt`, utf8, { language: short });
  await add('GNUCompressed', `${base}.txt.gz`, gzipSync(utf8));
  for (const charset of CHARSETS[language] ?? []) {
    try {
      const path = `${base}.${charset}.txt`;
      await execute('sh', ['-c', `iconv -c -f UTF-8 -t ${charset}//TRANSLIT '${base}.txt' >'${path}'`]);
      made.push({ type: `Text ${charset}`, path, text, language: short });
    } catch {
      options.print(`skipped: iconv does not know ${charset}`);
    }
  }
  const subject = `=?UTF-8?B?${Buffer.from(title).toString('base64')}?=`;
  const head = `From: ${AUTHOR} <installer@lists.example.org>\nSubject: ${subject}\nDate: Mon, 08 May 2023 10:00:00 +0000\nMessage-ID: <1@example.org>\nMIME-Version: 1.0\n`;
  const mail = `${head}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${utf8.toString('base64').replace(/.{76}/g, '$&\n')}\n`;
  await add('Mail', `${base}.eml`, Buffer.from(mail), { title, author: AUTHOR, date: DATE });
  for (const [type, command] of [
    ['Tar', `tar -cf '${base}.tar' -C '${options.directory}' '${language}-${name}.txt'`],
    ['CompressedTar', `tar -czf '${base}.tar.gz' -C '${options.directory}' '${language}-${name}.txt'`],
    ['Zip', `cd '${options.directory}' && zip -q '${base}.zip' '${language}-${name}.txt'`],
    ['XZ', `xz -k '${base}.txt'`],
    ['Bzip2', `bzip2 -k '${base}.txt'`],
  ] as const) {
    const suffix = { Tar: 'tar', CompressedTar: 'tar.gz', Zip: 'zip', XZ: 'txt.xz', Bzip2: 'txt.bz2' }[type];
    if (
      await execute('sh', ['-c', command]).then(
        () => true,
        () => false,
      )
    )
      made.push({ type, path: `${base}.${suffix}`, text });
  }
  return made;
}

/** Files of the packages whose text a Debian program prints. */
async function readCounterparts({ packages, directory, files, print }: CorpusOptions): Promise<CorpusFile[]> {
  const known: CorpusFile[] = [];
  const all = (await readdir(packages, { recursive: true })).sort();
  for (const oracle of TEXT_ORACLES) {
    const { type, names, within } = oracle;
    const candidates = all.filter(
      (file) => names.test(file.replace(/\.gz$/, '')) && (within?.test(file) ?? true),
    );
    if (candidates.length === 0) print(`skipped: no ${type} below ${packages}`);
    for (const [i, file] of sampleEvenly(candidates, files).entries()) {
      const raw = await readFile(join(packages, file)).catch(() => undefined);
      if (raw === undefined || raw.length > 4_000_000) continue;
      const path = join(directory, `${type}-${i}${/\.[^.]+$/.exec(file.replace(/\.gz$/, ''))?.[0] ?? ''}`);
      await writeFile(path, file.endsWith('.gz') ? gunzipSync(raw) : raw);
      const text = await oracleText(oracle, path);
      if (text === undefined) print(`skipped: the program for ${type} is not installed`);
      else if (text.length > 300) known.push({ type: `${type} of Debian`, path, text });
    }
  }
  return known;
}

/** Source files of this machine; the words to find are the names that ctags finds. */
async function readSourceFiles({ directory, files, print }: CorpusOptions): Promise<CorpusFile[]> {
  const known: CorpusFile[] = [];
  for (const { type, directories, suffix } of SOURCE_KINDS) {
    const found: string[] = [];
    for (const folder of directories) {
      const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of names)
        if (entry.isFile() && entry.name.endsWith(suffix)) found.push(join(entry.parentPath, entry.name));
    }
    if (found.length === 0) print(`skipped: no ${type} on this machine`);
    for (const [i, file] of sampleEvenly(found.sort(), files).entries()) {
      const path = join(directory, `${type}-${i}${suffix}`);
      await writeFile(path, await readFile(file));
      const names = await namesInSource(path);
      if (names.length >= 3) known.push({ type, path, text: names.join(' ') });
    }
  }
  return known;
}

async function pandoc(args: readonly string[]): Promise<string> {
  return (await execute('pandoc', [...args], { maxBuffer: MAX_OUTPUT_BYTES })).stdout;
}
