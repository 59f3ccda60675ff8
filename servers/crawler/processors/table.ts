// The table of processors, which orders, their checks and the chains read. A new processor is its file, with a
// descriptor, and a row here.
import { CRAWL_MAPPER, LINKS_MAPPER } from '../mapper/map-processors.js';
import { BROWSER } from './browser.js';
import { CHANGE_EVALUATOR, CONTENT_DIGEST } from './content-digest.js';
import { DIGEST_HISTORY, DIGEST_HISTORY_KEEPER } from './digest-history.js';
import { BLOCKER, QUOTA_ENFORCER, RUNTIME_LIMIT } from './enforcers.js';
import { FETCH, RESPONSE_CLASSIFIER } from './fetch.js';
import { FETCH_HISTORY, FETCH_HISTORY_KEEPER, FETCH_HISTORY_LOADER } from './fetch-history.js';
import { FORM_LOGIN } from './form-login.js';
import { LINKS_SCOPER } from './links-scoper.js';
import type { ProcessorDescriptor } from './parts.js';
import { PRECONDITION_ENFORCER } from './precondition-enforcer.js';
import { WARC_METADATA, WARC_WRITER } from './warc-writer.js';

/** The processors that the owner of a crawl makes: a Gatherer, of the documents that it summarizes. */
const OWNERS = {
  Preselector: {
    name: 'Preselector',
    chain: 'pre-fetch',
    text: 'rejects URIs whose URL shows a type of the stop list',
    rule: 'E-28',
  },
  History: {
    name: 'History',
    chain: 'pre-fetch',
    text: 'keeps a document that is not due yet; loads the record that makes requests conditional',
    rule: 'G-108',
    required: true,
  },
  LocalMapping: {
    name: 'LocalMapping',
    chain: 'pre-fetch',
    text: 'reads a document from the local file system by Local-Mapping',
    rule: 'G-71',
    after: ['History'],
  },
  ListingExtractor: {
    name: 'ListingExtractor',
    chain: 'extract',
    text: 'the URLs of sitemaps and feeds',
    rule: 'G-172',
  },
  Essence: {
    name: 'Essence',
    chain: 'extract',
    text: 'links and summary of the document; later processors of the chain do not get its body',
    rule: 'CRAWL-11.2',
    required: true,
    after: ['ChangeEvaluator', 'Browser', 'ListingExtractor'],
    formerNames: ['ExtractorHTTP', 'ExtractorHTML', 'ExtractorCSS', 'ExtractorJS'],
  },
  Writer: {
    name: 'Writer',
    chain: 'write',
    text: 'stores the object and the record of the document',
    rule: 'CRAWL-11.2',
    required: true,
  },
  ReferencesWriter: {
    name: 'ReferencesWriter',
    chain: 'post-process',
    text: 'stores the links of the document',
    rule: 'R-8',
  },
} as const satisfies Readonly<Record<string, ProcessorDescriptor>>;
export type OwnersProcessor = keyof typeof OWNERS;

/** The processors in the order of the default chains (CRAWL-11.2). */
export const PROCESSORS: readonly ProcessorDescriptor[] = [
  OWNERS.Preselector,
  CRAWL_MAPPER,
  RUNTIME_LIMIT,
  BLOCKER,
  QUOTA_ENFORCER,
  FETCH_HISTORY_LOADER,
  OWNERS.History,
  OWNERS.LocalMapping,
  PRECONDITION_ENFORCER,
  FORM_LOGIN,
  FETCH,
  CONTENT_DIGEST,
  FETCH_HISTORY,
  DIGEST_HISTORY,
  WARC_WRITER,
  RESPONSE_CLASSIFIER,
  CHANGE_EVALUATOR,
  BROWSER,
  OWNERS.ListingExtractor,
  OWNERS.Essence,
  OWNERS.Writer,
  OWNERS.ReferencesWriter,
  LINKS_SCOPER,
  LINKS_MAPPER,
  WARC_METADATA,
  FETCH_HISTORY_KEEPER,
  DIGEST_HISTORY_KEEPER,
];

/** Returns the processor of this name; undefined if the name is unknown. */
export function processorNamed(name: string | undefined): ProcessorDescriptor | undefined {
  return PROCESSORS.find((processor) => processor.name === name);
}
