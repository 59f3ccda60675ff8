// Compares full pages of site requests with full pages of document requests.
import type { ReferencesReader } from '../../../storage/references/index.js';
import { print } from '../harness.js';
import { createRandom } from '../references-graph.js';
import { formatRate, measureServer, medianRate, type PageOptions, type Rate } from './pages.js';
import type { ServerProcess } from './processes.js';
import { drawKeys, PAGE_RESULTS, pageRequest, sitePageRequest, writeRequests } from './requests.js';

const SEED = 30;
const DEPTH = 64;

/** The measurements of one site. */
export interface SiteResult {
  readonly serverId: number;
  /** Number of documents of the site. */
  readonly documents: number;
  /** Number of results of the site request. */
  readonly links: number;
  readonly document: Rate;
  readonly firstPage: Rate;
  readonly laterPages: Rate;
  /** Ratio of the rates of site requests and document requests, by processor time of the server. */
  readonly ratios: { readonly firstPage: number; readonly laterPages: number };
}

/** Measures pages of the largest site. Returns undefined if no list is longer than a page. */
export async function compareSites(
  refererd: ServerProcess,
  reader: ReferencesReader,
  options: PageOptions,
): Promise<SiteResult | undefined> {
  const { work, rounds, seconds, requests } = options;
  const serverId = findLargestSite(reader);
  const links = reader.links('sitehubs', serverId)?.total ?? 0;
  const long = reader.keys('hubs').filter((id) => (reader.links('hubs', id)?.total ?? 0) >= PAGE_RESULTS);
  if (links < 2 * PAGE_RESULTS || long.length === 0) {
    print('  skipped: site requests, because the graph is too small for full pages');
    return undefined;
  }
  const random = createRandom(SEED);
  const laterStart = () => PAGE_RESULTS + Math.floor((links - 2 * PAGE_RESULTS) * random());
  const files = {
    document: Array.from(drawKeys(long, 'uniform', requests, SEED), pageRequest),
    firstPage: Array.from({ length: requests }, () => sitePageRequest(serverId, 0)),
    laterPages: Array.from({ length: requests }, () => sitePageRequest(serverId, laterStart())),
  };
  const lanes = Object.entries(files).map(([name, texts]) => {
    return { file: writeRequests(work, `sites-${name}`, texts), rates: [] as Rate[] };
  });
  for (let round = 0; round <= rounds; round++)
    for (const { file, rates } of round % 2 === 0 ? lanes : [...lanes].reverse()) {
      const rate = await measureServer(refererd, 'sstp', 1, DEPTH, seconds, file, options.loadClient);
      if (round > 0) rates.push(rate);
    }
  const [document, firstPage, laterPages] = lanes.map(({ rates }) => medianRate(rates)) as [Rate, Rate, Rate];
  const result: SiteResult = {
    serverId,
    documents: reader.documentsOfServer(serverId)?.total ?? 0,
    links,
    document,
    firstPage,
    laterPages,
    ratios: {
      firstPage: firstPage.perCpuSecond / document.perCpuSecond,
      laterPages: laterPages.perCpuSecond / document.perCpuSecond,
    },
  };
  report(result);
  return result;
}

function findLargestSite(reader: ReferencesReader): number {
  let largest = { id: 0, total: -1 };
  for (const { id } of reader.servers()) {
    const total = reader.documentsOfServer(id)?.total ?? 0;
    if (total > largest.total) largest = { id, total };
  }
  return largest.id;
}

function report({ documents, links, document, firstPage, laterPages, ratios }: SiteResult): void {
  print(`  a site of ${documents} documents with ${links} links to it, full pages, 1 x ${DEPTH} in flight`);
  print(`    a document's page     ${formatRate(document)}`);
  print(
    `    the site's first page ${formatRate(firstPage)}; / a document's: ${ratios.firstPage.toFixed(2)} by processor time`,
  );
  print(
    `    its later pages       ${formatRate(laterPages)}; / a document's: ${ratios.laterPages.toFixed(2)} by processor time`,
  );
}
