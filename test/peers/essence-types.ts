/**
 * Compares the types that Essence recognizes with those of file(1) and Apache Tika: at least 2600 files of all
 * kinds below a directory, up to 32 of each suffix. Each type must be that of one of the two, or `REASONS` says
 * why it is another one.
 *
 *     node dist/test/peers/essence-types.js [DIRECTORY]
 *
 * DIRECTORY is /usr/share by default. Needs file(1); Tika is asked if its jar is in `tika` in the temporary
 * directory and Java is there; without it, what file(1) calls plain text may be of any type of text, because
 * file(1) knows no names. Prints TAP.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEssenceContext, recognize } from '../../servers/essence/index.js';
import { TEST_DATA } from '../run/needs.js';
import { IDENTITY } from '../servers/essence/helpers.js';

const [root = '/usr/share'] = process.argv.slice(2);
const JAR = join(TEST_DATA, 'tika', 'tika-app-2.9.2.jar');
const FILES_OF_SUFFIX = 32;
/** Fewer files say nothing; how many there are depends on the packages of the machine. */
const MIN_FILES = 1000;
const MAX_BYTES = 2_000_000;
/** Share of files that may be of another type without a reason: other machines have other files. */
const MAX_UNEXPLAINED = 0.01;

/** What file(1) or Tika call each type. */
const NAMES: Readonly<Record<string, RegExp>> = {
  Text: /^text\/(?!html)|^message\/|^application\/(?:json|x-sh|x-bat|javascript|xml-dtd|mathematica|pgp-keys|x-x509|vnd\.cups-ppd|x-ndjson)/,
  HTML: /html|^text\/xml/,
  SGML: /xml|sgml|x-plist|html/,
  DocBook: /sgml|xml|docbook/,
  ManPage: /troff/,
  Troff: /troff/,
  TeX: /x-tex|matlab/,
  LaTeX: /x-tex|matlab/,
  Texinfo: /texinfo/,
  Bibliographic: /bibtex|x-tex|matlab|^text\/plain/,
  C: /x-c\b|x-c\+\+|csrc/,
  CHeader: /x-c\b|x-c\+\+|chdr|hdr/,
  Java: /java/,
  CSharp: /csharp/,
  Go: /x-go/,
  Ruby: /ruby/,
  PHP: /php/,
  SQL: /sql/,
  Python: /python/,
  Perl: /perl/,
  Tcl: /tcl/,
  Awk: /awk/,
  ShellScript: /shellscript|x-sh/,
  JavaScript: /javascript/,
  TypeScript: /typescript/,
  Markdown: /markdown/,
  ReStructuredText: /rst/,
  Makefile: /makefile|^text\/plain/,
  Patch: /diff/,
  README: /^text\//,
  FAQ: /^text\//,
  DotFile: /^text\//,
  OtherCode: /^text\/|x-sh/,
  Configuration: /^text\/(?:plain|x-config|x-ini|xml|x-tex)/,
  Data: /octet-stream|x-tex-tfm|icc|gettext|bytecode|java|pgp|aco|x509|brotli|ole-storage|msoffice|wasm/,
  Font: /font|opentype|sfnt|tfm|metric/,
  Image: /^image\//,
  Audio: /^audio\//,
  Video: /^video\//,
  Pdf: /pdf/,
  PostScript: /postscript/,
  Mail: /rfc822/,
  GNUCompressed: /gzip/,
  GNUCompressedTar: /gzip/,
  Bzip2Compressed: /bzip2|xz|zstd/,
  Bzip2CompressedTar: /bzip2|xz|zstd/,
  PCCompressed: /zip|java-archive/,
  Archive: /archive/,
  Tar: /tar/,
  GDBM: /dbm/,
  Object: /object/,
  Binary: /executable|sharedlib/,
  OfficeOpenXML: /openxml/,
  OpenDocument: /opendocument/,
  EPUB: /epub/,
  Dvi: /dvi/,
  RTF: /rtf/,
};

/** Types that no text has. */
const BINARY =
  /^(?:Data|Audio|Video|Pdf|Dvi|GDBM|Object|Binary|Archive|.*Compressed|.*Tar|EPUB|O.*(?:XML|Document))$/;

/** Why a type is neither that of file(1) nor that of Tika: by its name and the names of its files. */
const REASONS: readonly (readonly [type: string, file: RegExp, reason: string])[] = [
  ['Font', /\.\d*[pg][kf]$/, 'file(1) knows no packed bitmap fonts of TeX; the name decides'],
  ['Font', /\.(?:tfm|t1)$/, 'file(1) does not know all metrics of TeX, nor all Type 1 fonts'],
  ['Markdown', /\.md$/, 'the name decides; file(1) sees a program or a page in the text'],
  ['Font', /\.mf$/, 'sources of METAFONT describe fonts; Essence has no type of its own for them'],
  ['Font', /\.pfa$/, 'the metrics and programs of fonts of groff: the name decides'],
  ['Awk', /\.awk$/, 'a program that the name and no line tell; Tika takes #! for a shell'],
  ['PostScript', /\.ps$/, 'parts of PostScript programs without the line %!: the name decides'],
  ['ShellScript', /\.(?:csh|sh|bash)$/, 'scripts without a line #!: the name decides'],
  ['Configuration', /\.(?:cfg|conf|ini|rc|cf)$/, 'the name says more about a configuration than its syntax'],
  ['Text', /\.(?:tt|outlang|tmpl|template|in|pod|db|rules)$/, 'templates with markup are not pages'],
  ['Text', /\.dafsa$/, 'bytes that the first lines do not show: Essence reads 4096'],
  ['Perl', /\.p[lm]$/, 'the name decides; file(1) sees the text of a comment'],
];

/** Regular files that are not empty, up to a number of each suffix, chosen by the digests of their paths. */
function sample(): string[] {
  const bySuffix = new Map<string, string[]>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || /[\n%]/.test(path)) continue;
    const { size } = statSync(path);
    if (size === 0 || size > MAX_BYTES) continue;
    const suffix = extname(entry.name).slice(0, 8).toLowerCase();
    const known = bySuffix.get(suffix);
    if (known === undefined) bySuffix.set(suffix, [path]);
    else known.push(path);
  }
  const digest = (path: string) => createHash('md5').update(path).digest('hex');
  return [...bySuffix.values()].flatMap((paths) =>
    paths
      .map((path) => [digest(path), path] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, FILES_OF_SUFFIX)
      .map(([, path]) => path),
  );
}

const TIKA = `import org.apache.tika.Tika; import java.nio.file.*;
public class Detect { public static void main(String[] args) throws Exception {
  Tika tika = new Tika();
  for (String line : Files.readAllLines(Path.of(args[0]))) {
    String type; try { type = tika.detect(Path.of(line)); } catch (Throwable error) { type = "error"; }
    System.out.println(type); } } }`;

/** The media types of Tika; undefined if it is not there. */
function tikaTypes(list: string, directory: string): string[] | undefined {
  if (!existsSync(JAR)) return undefined;
  const source = join(directory, 'Detect.java');
  writeFileSync(source, TIKA);
  const { status, stdout } = spawnSync('java', ['-cp', JAR, source, list], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return status === 0 ? stdout.trimEnd().split('\n') : undefined;
}

if (spawnSync('file', ['--version']).status !== 0) {
  process.stdout.write('ok 1 - types # SKIP needs file(1)\n1..1\n');
  process.exit(0);
}
const directory = mkdtempSync(join(tmpdir(), 'types-'));
const paths = sample();
const list = join(directory, 'files');
writeFileSync(list, `${paths.join('\n')}\n`);
const ofFile = execFileSync('file', ['-b', '--mime-type', '-f', list], {
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .trimEnd()
  .split('\n');
const ofTika = tikaTypes(list, directory);
rmSync(directory, { recursive: true });
const { rules } = await createEssenceContext(IDENTITY);
let agreeing = 0;
const reasons = new Map<string, number>();
const unexplained: string[] = [];
for (const [i, path] of paths.entries()) {
  const { type } = recognize({ url: pathToFileURL(path).href, body: readFileSync(path) }, rules);
  const names = [ofFile[i]!, ...(ofTika === undefined ? [] : [ofTika[i]!])];
  const name = NAMES[type];
  const isSomeText =
    ofTika === undefined && names[0]!.startsWith('text/') && names[0] !== 'text/html' && !BINARY.test(type);
  if (isSomeText || (name !== undefined && names.some((other) => name.test(other)))) {
    agreeing++;
    continue;
  }
  const reason = REASONS.find(([ofType, file]) => ofType === type && file.test(path))?.[2];
  if (reason === undefined) unexplained.push(`${path}: ${type}, ${names.join(', ')}`);
  else reasons.set(`${type}: ${reason}`, (reasons.get(`${type}: ${reason}`) ?? 0) + 1);
}
for (const [reason, count] of reasons) process.stdout.write(`# ${count} files are ${reason}\n`);
for (const line of unexplained) process.stdout.write(`# ${line}\n`);
const readers = ofTika === undefined ? 'file(1)' : 'file(1) or Tika';
const share = unexplained.length / paths.length;
const results = [
  [paths.length >= MIN_FILES || root !== '/usr/share', `${paths.length} files of ${root}`],
  [share <= MAX_UNEXPLAINED, `${agreeing} types are those of ${readers}, ${unexplained.length} others not`],
] as const;
for (const [i, [ok, text]] of results.entries())
  process.stdout.write(`${ok ? '' : 'not '}ok ${i + 1} - ${text}\n`);
process.stdout.write(`1..${results.length}\n`);
process.exitCode = results.every(([ok]) => ok) ? 0 : 1;
