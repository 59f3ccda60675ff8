// The table of fuzz targets. A target's modules are loaded only when it runs, so that its branches are counted
// alone.
import type { FuzzTarget } from '../target.js';

type Module = Readonly<Record<string, unknown>>;

/** The names of targets by their modules, which export each under its name in camel case. */
const MODULES: readonly (readonly [load: () => Promise<Module>, names: string])[] = [
  [
    () => import('./soif.js'),
    'soif-strict soif-lenient soif-sections soif-objects soif-attributes annotations',
  ],
  [() => import('./gatherd.js'), 'gatherd-server gatherd-client gatherd-lines gzip-frame'],
  [() => import('./broker.js'), 'broker-messages broker-queries broker-results broker-server broker-client'],
  [() => import('./bulk.js'), 'bulk-shipped bulk-proposed bulk-compressed bulk-requests'],
  [() => import('./sstp.js'), 'sstp-requests sstp-replies sstp-sessions'],
  [() => import('./network.js'), 'gopher-menus gopher-urls cookie-files http-responses nntp robots'],
  [() => import('./urls.js'), 'canonical-urls crawl-uris document-urls'],
  [
    () => import('./config.js'),
    'gatherer-conf secrets gatherd-conf broker-conf collection-conf broker-query-cf referer-conf filters patterns',
  ],
  [
    () => import('./storage.js'),
    'registry-decoder registry-salvage gdbm-dump sources link-lists stored-records export-index level-files ' +
      'seen-log',
  ],
  [
    () => import('./clients.js'),
    'http-bodies update-members bulk-client cache-entries ftp-listings json-lines soif-checks',
  ],
  [() => import('./crawler.js'), 'journals order-xml order-json warc-files listings essence-files'],
  [
    () => import('./essence.js'),
    'essence-pdf essence-postscript essence-html outlinks essence-sgml essence-tex essence-texinfo ' +
      'essence-troff essence-man-page essence-rtf essence-mail essence-news essence-office-xml essence-epub ' +
      'essence-power-point essence-opendocument essence-word essence-excel essence-wordperfect essence-dvi ' +
      'essence-image essence-audio essence-font essence-tar essence-zip essence-cpio essence-ar essence-gzip ' +
      'essence-lzw essence-bzip2 essence-xz essence-encoded essence-shar essence-binhex essence-source ' +
      'essence-small essence-any',
  ],
  [
    () => import('./essence-markup.js'),
    'essence-markdown essence-restructured-text essence-asciidoc essence-org essence-jupyter essence-docbook ' +
      'essence-jats essence-fb2 essence-tei',
  ],
  [
    () => import('./essence-media.js'),
    'essence-mp4 essence-matroska essence-avi essence-png-text essence-webp essence-svg essence-json-ld ' +
      'essence-selectors',
  ],
  [
    () => import('./essence-programs.js'),
    'essence-java essence-python essence-go essence-rust essence-typescript essence-ruby essence-csharp ' +
      'essence-kotlin essence-swift essence-php essence-sql',
  ],
  [() => import('./essence-charsets.js'), 'charsets messageCharsets'],
];
const LOADERS = new Map(MODULES.flatMap(([load, names]) => names.split(' ').map((name) => [name, load])));

export const TARGET_NAMES: readonly string[] = [...LOADERS.keys()];

const isTarget = (value: unknown): value is FuzzTarget =>
  typeof value === 'object' && value !== null && 'run' in value;

/** @throws RangeError when no target has that name */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  const module = await LOADERS.get(name)?.();
  const target = module?.[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
  if (!isTarget(target)) throw new RangeError(`no target is called ${name}`);
  return target;
}
